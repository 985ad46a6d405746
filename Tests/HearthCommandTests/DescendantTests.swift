// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import Synchronization
import Testing

@testable import CommandTransfer
@testable import HearthCommand

/// All that is below a path, by queries over all collections.
@Suite("Descendants of a path")
struct DescendantTests {
  private func datastore() throws -> InProcessDatastore {
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
    return InProcessDatastore(backend: backend, database: database)
  }

  private func visited(_ datastore: any Datastore, _ path: ResourcePath) async throws -> [String] {
    var paths: [String] = []
    let walk = DocumentWalk(at: datastore, database, isRecursive: true)
    try await walk.visit(path) { paths.append($0.key.path.text) }
    return paths
  }

  /// Collection by collection, as an iterator goes.
  private func stepped(_ datastore: any Datastore, _ path: ResourcePath) async throws -> [String] {
    var iterator = DocumentWalk.Iterator(DocumentWalk(at: datastore, database, isRecursive: true), path)
    var paths: [String] = []
    while let document = try await iterator.next() { paths.append(document.key.path.text) }
    return paths
  }

  @Test("One query over all collections returns the same documents as a recursive walk")
  func order() async throws {
    let datastore = try datastore()
    var random = SeededGenerator(seed: 7)
    let ids = ["a", "a!", "a0", "b", "__id7__", "__id12__", "ž", "A", "a b"]
    let names = ["c", "c!", "c0", "d"]
    for _ in 0..<TestSize.count(150, full: 400) {
      var path = ""
      for level in 0..<Int.random(in: 1...3, using: &random) {
        let (name, id) = (names.randomElement(using: &random) ?? "c", ids.randomElement(using: &random) ?? "a")
        path += (level == 0 ? "" : "/") + "\(name)/\(id)"
      }
      _ = try await datastore.commit([set(path, ["n": 1])])
    }
    for path in ["", "c", "c!", "d", "c/a", "c/a/c", "c/nothing", "nothing"] {
      let root = ResourcePath(path)
      let expected = try await stepped(datastore, root)
      #expect(try await visited(datastore, root) == expected, "\(path)")
      #expect(try await visited(OneByOne(base: datastore), root) == expected, "\(path), one piece after the other")
      #expect(try await visited(Unaware(base: datastore), root) == expected, "\(path), collection by collection")
    }
  }

  @Test("Reading all documents takes few requests, however many have descendants")
  func calls() async throws {
    let datastore = Counting(base: try datastore())
    for number in 0..<300 {
      _ = try await datastore.base.commit([set("c/\(number)", ["n": 1]), set("c/\(number)/s/x", ["n": 2])])
    }
    #expect(try await visited(datastore, .root).count == 600)
    #expect(datastore.calls.load(ordering: .relaxed) <= 2)
  }

  @Test("An error while visiting descendants ends the visit with that error")
  func failure() async throws {
    struct Enough: Error {}
    let datastore = try datastore()
    for number in 0..<20 { _ = try await datastore.commit([set("c/\(number)", [:])]) }
    var count = 0
    await #expect(throws: Enough.self) {
      try await DocumentWalk(at: datastore, database, isRecursive: true).visit(.root) { _ in
        count += 1
        if count == 3 { throw Enough() }
      }
    }
    #expect(count == 3)
  }

  @Test("Elements pass from producer to consumer in order, and none is lost at the end")
  func handoff() async {
    let handoff = ElementChannel<Int>()
    async let given: Void = {
      for number in 0..<500 { _ = await handoff.give(number) }
      handoff.end()
    }()
    var taken: [Int] = []
    while let number = await handoff.take() { taken.append(number) }
    await given
    #expect(taken == Array(0..<500))
    #expect(await handoff.give(1) == false)
  }
}

/// A way to a backend that reads one collection at a time.
private struct Unaware: DatastoreWrapper {
  let base: any Datastore

  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) { throw RPCStatus(.unimplemented, "This backend has no queries over all collections.") }
}

/// Cuts each answer off behind its first document.
private struct OneByOne: DatastoreWrapper {
  let base: any Datastore

  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    var one = request
    one.limit = 1
    let count = Atomic(0)
    try await base.visitDescendants(one) { documents in
      count.add(documents.count, ordering: .relaxed)
      return await deliver(documents)
    }
    if count.load(ordering: .relaxed) == 1 { throw RPCStatus(.unavailable, "The connection was cut.") }
  }
}

private final class Counting: DatastoreWrapper {
  let base: any Datastore
  let calls = Atomic(0)

  init(base: any Datastore) { self.base = base }

  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    calls.add(1, ordering: .relaxed)
    try await base.visitDescendants(request, deliver: deliver)
  }

  func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    if read is CollectionIDsRead { calls.add(1, ordering: .relaxed) }
    return try await base.read(read)
  }
}
