// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreRemote
import Foundation
import Testing

@testable import FirestoreLocal

/// Rows that say something else than what was stored.
@Suite struct ChecksumTests {
  private func filled(_ place: Place) throws -> LocalStore {
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(
      event(at: 5, [doc("rooms/a", at: 5, ["n": .string("old")])], addedTo: target, token: token("t5")))
    _ = try store.write([patch("rooms/a", ["n": .string("mine")])], at: now)
    return store
  }

  private func failure<T>(_ body: () throws -> T) -> LocalStoreError? {
    do { _ = try body() } catch { return error as? LocalStoreError }
    return nil
  }

  @Test("A pending write that changed on disk is an error that says it was not sent, and nobody else's")
  func batch() throws {
    let store = try filled(Place(.memory))

    try store.database.connection.execute(
      "UPDATE mutation_batches SET batch = CAST(replace(CAST(batch AS TEXT), 'mine', 'fine') AS BLOB)")
    let changed = failure { try store.pendingBatches() }
    let next = failure { try store.nextBatch(after: nil) }

    #expect(changed?.kind == .corrupt)
    #expect(changed?.message.contains("was not sent") == true)
    #expect(next?.kind == .corrupt)
  }

  @Test("A pending write that came under another user is not sent as his")
  func user() throws {
    var store = try filled(Place(.memory))
    _ = try store.changeUser(to: "ada")

    try store.database.connection.execute("UPDATE mutation_batches SET user = (SELECT max(id) FROM users)")

    #expect(failure { try store.pendingBatches() }?.kind == .corrupt)
  }

  @Test("An overlay that changed on disk is not shown")
  func overlay() throws {
    let store = try filled(Place(.memory))

    try store.database.connection.execute(
      """
      UPDATE pending_documents SET mutation = CAST(replace(CAST(mutation AS TEXT), 'mine', 'fine') AS BLOB)
        WHERE batch = 0
      """)

    #expect(failure { try store.document(key("rooms/a")) }?.kind == .corrupt)
    #expect(failure { try store.execute(collection("rooms"), usingPreviousResults: false) }?.kind == .corrupt)
  }

  @Test("A target is not resumed with a token that changed on disk")
  func target() throws {
    let place = Place(.durable)
    var store = try filled(place)
    store.close()
    store = try place.open()

    try store.database.connection.execute("UPDATE targets SET resume_token = x'00'")

    #expect(failure { try store.targetData(for: collection("rooms").target) }?.kind == .corrupt)
  }

  @Test("A cache without checksums, of the version before, is taken over with what waits in it")
  func upgrade() throws {
    let place = Place(.durable)
    var store = try filled(place)
    let batch = try #require(try store.nextBatch(after: nil))
    var old = batch
    old.generation = nil
    let bytes = old.encoded().map { String(format: "%02x", $0) }.joined()
    let connection = store.database.connection
    try connection.execute(
      """
      UPDATE mutation_batches SET batch = x'\(bytes)';
      DROP VIEW overlays;
      ALTER TABLE mutation_batches DROP COLUMN checksum;
      ALTER TABLE rejected_writes DROP COLUMN checksum;
      ALTER TABLE targets DROP COLUMN checksum;
      ALTER TABLE pending_documents DROP COLUMN checksum;
      CREATE VIEW overlays AS
        SELECT collection, name, user, largest_batch, mutation, origin FROM pending_documents WHERE batch = 0;
      PRAGMA user_version = 5;
      """)
    store.close()

    store = try place.open()
    let pending = try store.pendingBatches()
    let view = try store.document(key("rooms/a"))
    let known = try store.targetData(for: collection("rooms").target)
    let id = store.requestID(of: try #require(pending.first))
    let later = try store.write([patch("rooms/a", ["m": .string("new")])], at: now).batchID
    let laterID = store.requestID(of: try #require(try store.nextBatch(after: pending.first?.id)))
    let violations = try store.checkInvariants()

    #expect(pending.map(\.mutations) == [batch.mutations])
    #expect(view?[FieldPath("n")] == .string("mine"))
    #expect(known?.resumeToken == token("t5"))
    #expect(id.clientID.count == 8)
    #expect(laterID.batchID == later && laterID.clientID.count == 16 && laterID.clientID.starts(with: id.clientID))
    #expect(violations == [])
  }
}
