// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestoreLocal

@Suite("Overlays that outlive their first batch")
struct OverlayOriginTests {
  /// Sets and patches of one document; each changes something of its own and something that others change too.
  private func writes(_ count: Int) -> [Mutation] {
    (0..<count).map { number in
      let value = Value.integer(Int64(number))
      return number.isMultiple(of: 7)
        ? set("rooms/r", ["shared": value, "set": value])
        : patch("rooms/r", ["shared": value, "f\(number % 5)": value])
    }
  }

  private func filled(_ place: Place, _ count: Int) throws -> LocalStore {
    var store = try place.open()
    _ = try store.apply(event(at: 1, [doc("rooms/r", at: 1, ["shared": .integer(-1), "own": .integer(1)])]))
    for mutation in writes(count) { _ = try store.write([mutation], at: now) }
    return store
  }

  @Test("An acknowledgement does not read pending batches for the same document", arguments: Storage.allCases)
  func acknowledgement(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try filled(place, 40)

    while let batch = try store.nextBatch(after: nil) {
      try store.hideBatches(after: batch.id)
      _ = try store.acknowledge(batch.id, commit(at: 100 + batch.id.rawValue))
      try store.showBatches()
      let violations = try store.checkInvariants()
      #expect(violations == [])
    }

    let document = try store.document(key("rooms/r"))
    #expect(document?[FieldPath("shared")] == .integer(39))
  }

  @Test("A remote version or a rejection does not read pending batches", arguments: Storage.allCases)
  func remoteVersion(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try filled(place, 40)
    var time: Int64 = 100

    while let batch = try store.nextBatch(after: nil) {
      time += 2
      try store.hideBatches(after: batch.id)
      if batch.id.rawValue.isMultiple(of: 3) {
        _ = try store.reject(batch.id)
      } else {
        _ = try store.acknowledge(batch.id, commit(at: time))
      }
      let fields: Fields = ["shared": .integer(time), "set": .integer(time), "theirs": .integer(time)]
      _ = try store.apply(event(at: time + 1, [doc("rooms/r", at: time + 1, fields)]))
      try store.showBatches()
      let violations = try store.checkInvariants()
      #expect(violations == [])
    }

    let document = try store.document(key("rooms/r"))
    #expect(document?[FieldPath("theirs")] == .integer(time))
  }

  /// What updates of a counter, a time, and a list leave to the backend.
  private static let computed: [(name: String, write: Mutation, result: Value)] = [
    ("increment", increment("rooms/r", "n", by: 1), .integer(1)),
    ("server timestamp", transform(.serverTimestamp), .timestamp(now)),
    ("array union", transform(.arrayUnion([.integer(7)])), .null),
    ("array removal", transform(.arrayRemove([.integer(8)])), .null),
    ("maximum", transform(.maximum(.integer(5))), .integer(5)),
  ]

  private static func transform(_ operation: FieldTransform.Operation) -> Mutation {
    Mutation(
      key: key("rooms/r"), operation: .patch(["own": .integer(2)], FieldMask([FieldPath("own")])),
      precondition: .exists(true), transforms: [FieldTransform(path: FieldPath("n"), operation: operation)])
  }

  @Test("An acknowledged transform does not read pending batches", arguments: 0..<5)
  func transforms(_ kind: Int) throws {
    let (name, write, result) = Self.computed[kind]
    var store = try Place(.memory).open()
    _ = try store.apply(event(at: 1, [doc("rooms/r", at: 1, ["own": .integer(1)])]))
    for _ in 0..<30 { _ = try store.write([write], at: now) }

    while let batch = try store.nextBatch(after: nil) {
      try store.hideBatches(after: batch.id)
      let time = 100 + batch.id.rawValue
      _ = try store.acknowledge(batch.id, commit(at: time, transformResults: [counted(result, batch.id)]))
      // The backend's own version of the document follows.
      let committed = try #require(try store.remoteDocument(key("rooms/r"))?.data?.fields)
      _ = try store.apply(event(at: time, [doc("rooms/r", at: time, committed)]))
      try store.showBatches()
      let violations = try store.checkInvariants()
      #expect(violations == [], "\(name)")
    }
  }

  private func counted(_ result: Value, _ batch: BatchID) -> Value {
    result == .integer(1) ? .integer(batch.rawValue) : result
  }

  @Test("An acknowledgement for a document not in the cache does not read pending batches")
  func unknownDocument() throws {
    var store = try Place(.memory).open()
    for _ in 0..<30 { _ = try store.write([increment("rooms/r", "n", by: 1)], at: now) }

    while let batch = try store.nextBatch(after: nil) {
      try store.hideBatches(after: batch.id)
      _ = try store.acknowledge(
        batch.id, commit(at: 100 + batch.id.rawValue, transformResults: [.integer(1000 + batch.id.rawValue)]))
      try store.showBatches()
      let violations = try store.checkInvariants()
      #expect(violations == [])
    }
  }

  @Test(
    "The overlay always equals the pending batches applied in order (S9)",
    arguments: 0..<UInt64(TestSize.count(10, full: 60)))
  func random(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var store = try Place(.memory).open()
    var time: Int64 = 1
    for step in 0..<60 {
      time += 1
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        _ = try store.write((0..<Int.random(in: 1...2, using: &random)).map { _ in mutation(&random) }, at: now)
      case 5, 6:
        guard let batch = try store.nextBatch(after: nil) else { continue }
        let results = batch.mutations.map { mutation in
          MutationResult(version: version(time), transformResults: mutation.transforms.map { _ in .integer(time) })
        }
        _ = try store.acknowledge(batch.id, CommitResponse(commitTime: version(time), results: results))
      case 7:
        let pending = try store.pendingBatches()
        if let batch = pending.randomElement(using: &random) { _ = try store.reject(batch.id) }
      default:
        let exists = Int.random(in: 0..<4, using: &random) > 0
        _ = try store.apply(event(at: time, [doc("rooms/r", at: time, exists ? fields(&random) : nil)]))
      }
      let violations = try store.checkInvariants()
      #expect(violations == [], "seed \(seed), step \(step)")
    }
  }

  private static let paths = ["a", "b", "a.x", "a.y", "a.x.z"].map {
    FieldPath(segments: $0.split(separator: ".").map(String.init))
  }

  private static let transformed = ["n", "b", "a.x", "a.y"].map {
    FieldPath(segments: $0.split(separator: ".").map(String.init))
  }

  private func computation(_ random: inout SeededGenerator) -> FieldTransform.Operation {
    let number = Value.integer(Int64.random(in: 0..<9, using: &random))
    return switch Int.random(in: 0..<6, using: &random) {
    case 0: .increment(number)
    case 1: .minimum(number)
    case 2: .maximum(number)
    case 3: .arrayUnion([number])
    case 4: .arrayRemove([number])
    default: .serverTimestamp
    }
  }

  private func fields(_ random: inout SeededGenerator) -> Fields {
    var fields = Fields()
    for path in Self.paths where Bool.random(using: &random) {
      fields[path] = Bool.random(using: &random) ? .integer(Int64.random(in: 0..<9, using: &random)) : .map([:])
    }
    return fields
  }

  private func mutation(_ random: inout SeededGenerator) -> Mutation {
    let transforms =
      Int.random(in: 0..<2, using: &random) > 0
      ? []
      : Set((0..<2).map { _ in Int.random(in: 0..<Self.transformed.count, using: &random) }).sorted().map { path in
        FieldTransform(path: Self.transformed[path], operation: computation(&random))
      }
    let precondition = [Precondition.none, .none, .none, .exists(true), .exists(false)].randomElement(using: &random)
    let operation: Mutation.Operation =
      switch Int.random(in: 0..<9, using: &random) {
      case 0: .delete
      case 1, 2: .set(fields(&random))
      default: .patch(fields(&random), FieldMask(Self.paths.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }))
      }
    return Mutation(
      key: key("rooms/r"), operation: operation, precondition: precondition ?? .none,
      transforms: operation == .delete ? [] : transforms)
  }
}
