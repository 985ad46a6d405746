// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestoreLocal

@Suite("Store invariants")
struct InvariantTests {
  @Test(
    "A failed remote event stores neither its documents nor its token (S6)", arguments: Storage.allCases)
  func halfWay(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    let before = doc("rooms/a", at: 1)
    _ = try store.apply(event(at: 1, [before], addedTo: target, token: token("one")))
    let change = event(at: 2, [doc("rooms/a", at: 2), doc("rooms/b", at: 2)], addedTo: target, token: token("two"))

    // Targets are stored after the documents, so that here the documents are already written.
    try store.database.connection.execute(
      "CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.targets BEGIN SELECT RAISE(ABORT, 'refused'); END")
    var failure: StoreError?
    do { _ = try store.apply(change) } catch { failure = error }
    try store.database.connection.execute("DROP TRIGGER refuse")

    #expect(failure != nil)
    let remote = try store.remoteDocument(key("rooms/a"))
    #expect(remote == before)
    let added = try store.remoteDocument(key("rooms/b"))
    #expect(added == nil)
    let members = try store.remoteKeys(of: target)
    #expect(members == [key("rooms/a")])
    let active = store.activeTarget(target)?.resumeToken
    #expect(active == token("one"))
    let stored = try store.targetData(for: collection("rooms").target)?.resumeToken
    #expect(stored == token("one"))
    let last = try store.lastRemoteSnapshotVersion()
    #expect(last == version(1))

    _ = try store.apply(change)
    let storedThen = try store.targetData(for: collection("rooms").target)?.resumeToken
    #expect(storedThen == token("two"))
  }

  private static let paths = (0..<4).map { "rooms/r\($0)" }

  /// The remote document with the user's pending batches applied one after the other, without any overlay.
  private func written(_ key: DocumentKey, _ store: borrowing LocalStore) throws -> Document {
    var document = try store.remoteDocument(key) ?? Document(key: key, version: nil, state: .missing)
    var mask = MutatedFields.some(FieldMask([]))
    for batch in try store.pendingBatches() {
      for mutation in batch.baseMutations + batch.mutations where mutation.key == key {
        mask = mutation.applyLocally(to: &document, previousMask: mask, at: batch.localWriteTime)
      }
    }
    return document
  }

  /// The remote document under its overlay.
  private func overlaid(_ key: DocumentKey, _ store: borrowing LocalStore) throws -> Document {
    var document = try store.remoteDocument(key) ?? Document(key: key, version: nil, state: .missing)
    if let overlay = try store.overlay(of: key) {
      _ = overlay.applyLocally(to: &document, previousMask: .some(FieldMask([])), at: now)
    }
    return document
  }

  @Test(
    "A document is always its remote state plus an overlay of its pending writes (S9)",
    arguments: Storage.allCases, 0..<UInt64(TestSize.count(6, full: 12)))
  func overlays(_ storage: Storage, _ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    var trace: [String] = []

    for time in 1...40 as ClosedRange<Int64> {
      let path = Self.paths.randomElement(using: &random) ?? "rooms/r0"
      let amount = Int64.random(in: 0..<5, using: &random)
      let changes: [DocumentKey: Document]
      switch Int.random(in: 0..<9, using: &random) {
      case 0:
        trace.append("server \(path)")
        changes = try store.apply(event(at: time, [doc(path, at: time, ["n": .integer(amount)])], addedTo: target))
      case 1:
        trace.append("server deletes \(path)")
        changes = try store.apply(event(at: time, [doc(path, at: time, nil)]))
      case 2:
        trace.append("set \(path)")
        changes = try store.write([set(path, ["n": .integer(amount)])], at: now).changes
      case 3:
        trace.append("patch \(path)")
        changes = try store.write([patch(path, ["m": .integer(amount)])], at: now).changes
      case 4:
        trace.append("increment \(path)")
        changes = try store.write([increment(path, "n", by: amount)], at: now).changes
      case 5:
        trace.append("delete \(path)")
        changes = try store.write([delete(path)], at: now).changes
      case 6:
        trace.append("nested patch \(path)")
        let fields: Fields = amount < 2 ? [:] : ["map": .map(["x": .integer(amount)])]
        let mask = FieldMask([FieldPath(segments: ["map", "x"])])
        changes = try store.write([Mutation(key: key(path), operation: .patch(fields, mask))], at: now).changes
      case 7:
        guard let batch = try store.nextBatch(after: nil) else { continue }
        trace.append("acknowledge \(batch.id)")
        let answers: [Value] = batch.mutations[0].transforms.isEmpty ? [] : [.integer(amount)]
        changes = try store.acknowledge(batch.id, commit(at: time, transformResults: answers))
      default:
        guard let batch = try store.pendingBatches().randomElement(using: &random) else { continue }
        trace.append("reject \(batch.id)")
        changes = try store.reject(batch.id)
      }

      let queried = try store.execute(collection("rooms"), usingPreviousResults: false).documents
      for key in Self.paths.map({ key($0) }) {
        let written = try written(key, store)
        let overlaid = try overlaid(key, store)
        let read = try store.document(key) ?? Document(key: key, version: nil, state: .missing)
        #expect(read == written, "seed \(seed): \(trace.suffix(6))")
        #expect(read == overlaid, "seed \(seed): \(trace.suffix(6))")
        #expect(queried[key] == (read.exists ? read : nil), "seed \(seed): \(trace.suffix(6))")
        if let change = changes[key] { #expect(change == read, "seed \(seed): \(trace.suffix(6))") }
      }
    }
  }
}
