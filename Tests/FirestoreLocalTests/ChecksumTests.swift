// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
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

  private func failure<T>(_ body: () throws -> T) -> StoreError? {
    do { _ = try body() } catch { return error as? StoreError }
    return nil
  }

  @Test("A pending write changed on disk is reported as unsent and is never sent")
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

  @Test("A pending write that was moved to another user on disk is not sent")
  func user() throws {
    var store = try filled(Place(.memory))
    _ = try store.changeUser(to: "ada")

    try store.database.connection.execute("UPDATE mutation_batches SET user = (SELECT max(id) FROM users)")

    #expect(failure { try store.pendingBatches() }?.kind == .corrupt)
  }

  @Test("An overlay changed on disk is not shown")
  func overlay() throws {
    let store = try filled(Place(.memory))

    try store.database.connection.execute(
      """
      UPDATE pending_documents SET mutation = CAST(replace(CAST(mutation AS TEXT), 'mine', 'fine') AS BLOB)
        WHERE batch = 0
      """)
    store.database.overlays.forget()

    #expect(failure { try store.document(key("rooms/a")) }?.kind == .corrupt)
    #expect(failure { try store.execute(collection("rooms"), usingPreviousResults: false) }?.kind == .corrupt)
  }

  @Test(
    "A document whose name, times or state changed on disk is not shown",
    arguments: [
      "name = 'e'", "version = version + 1", "create_time = 7", "state = 2", "state = 0",
      "checksum = checksum + 4294967296",
    ])
  func document(change: String) throws {
    let place = Place(.durable)
    var store = try place.open()
    _ = try store.apply(event(at: 5, [doc("rooms/d", at: 5, ["n": .string("as it was")])]))

    try store.database.connection.execute("UPDATE documents SET \(change)")

    #expect(failure { try store.execute(collection("rooms"), usingPreviousResults: false) }?.kind == .corrupt)
    if !change.hasPrefix("name") { #expect(failure { try store.document(key("rooms/d")) }?.kind == .corrupt) }
    #expect(failure { try store.database.verify() }?.kind == .corrupt)
  }

  @Test(
    "A row without a checksum is reported as damage",
    arguments: [
      "documents SET checksum = NULL", "documents SET checksum = checksum & 4294967295", "targets SET checksum = NULL",
      "pending_documents SET checksum = NULL",
    ])
  func missing(change: String) throws {
    let place = Place(.durable)
    let store = try filled(place)

    try store.database.connection.execute("UPDATE \(change)")

    #expect(failure { try store.database.verify() }?.kind == .corrupt)
  }

  @Test("A target does not resume with a token that changed on disk")
  func target() throws {
    let place = Place(.durable)
    var store = try filled(place)
    store.close()
    store = try place.open()

    try store.database.connection.execute("UPDATE targets SET resume_token = x'00'")

    #expect(failure { try store.targetData(for: collection("rooms").target) }?.kind == .corrupt)
  }

  /// Gives the target of `rooms` another document, in the table and in its index.
  private static let exchange = "UPDATE target_documents SET document = (SELECT max(id) FROM documents)"

  @Test("Listening again detects that a target's documents were swapped on disk")
  func members() throws {
    for isScan in [true, false] {
      let place = Place(.durable)
      var store = try filled(place)
      _ = try store.apply(event(at: 6, [doc("rooms/b", at: 6)]))
      store.close()
      store = try place.open()
      try store.database.connection.execute(Self.exchange)

      let target = try store.allocateTarget(collection("rooms").target).id
      let found = failure {
        if isScan { try _ = store.execute(collection("rooms"), usingPreviousResults: true) }
        if !isScan { try _ = store.remoteKeys(of: target) }
      }
      store.close()

      #expect(found?.kind == .corrupt)
      #expect(found?.message.contains("documents differ from the stored documents") == true)
      // The next start looks at everything.
      let next = LocalStore(openingOrFallingBack: place.configuration())
      #expect(next.movedAside != nil)
      next.close()
    }
  }

  @Test("A query detects that its previous result's documents were swapped on disk")
  func previousResult() throws {
    let place = Place(.durable)
    var store = try place.open()
    let query = collection("rooms", [field("n", .greaterThan, .integer(0))])
    let target = try store.allocateTarget(query.target).id
    _ = try store.apply(
      event(at: 5, [doc("rooms/a", at: 5, ["n": .integer(1)])], addedTo: target, token: token("t5")))
    try store.notifyLocalViewChanges([
      LocalViewChanges(targetID: target, isFromCache: false, added: [key("rooms/a")], removed: [])
    ])
    _ = try store.apply(event(at: 6, [doc("rooms/b", at: 6)]))
    let plan = try store.execute(query, usingPreviousResults: true).plan
    try store.database.connection.execute(Self.exchange)

    #expect(plan == .syncedResult)
    #expect(failure { try store.execute(query, usingPreviousResults: true) }?.kind == .corrupt)
    store.close()
  }

  @Test("A target's membership checksum is updated with every change of its documents")
  func memberChanges() throws {
    for policy in [GarbageCollectionPolicy.eager, .leastRecentlyUsed(thresholdBytes: 0)] {
      var store = try Place(.memory).open(policy)
      let target = try store.allocateTarget(collection("rooms").target).id
      func check(_ event: RemoteEvent) throws {
        _ = try store.apply(event)
        #expect(try store.checkInvariants() == [])
      }
      try check(event(at: 5, (0..<20).map { doc("rooms/\($0)", at: 5) }, addedTo: target, token: token("t")))
      // Some of them again.
      try check(event(at: 6, (15..<25).map { doc("rooms/\($0)", at: 6) }, addedTo: target, token: token("u")))
      var removal = event(at: 7)
      removal.targetChanges[target] = TargetChange(
        resumeToken: token("v"), isCurrent: true, removed: Set((10..<30).map { key("rooms/\($0)") }))
      try check(removal)
      var mismatch = event(at: 8, [doc("rooms/3", at: 8)])
      mismatch.targetMismatches[target] = .existenceFilterMismatch
      try check(mismatch)
      try check(event(at: 9, [doc("rooms/4", at: 9)], addedTo: target, token: token("w")))
      #expect(try store.remoteKeys(of: target) == [key("rooms/4")])
    }
  }
}
