// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestoreBackend

@Suite struct WatchTests {
  @Test("A new target receives ADD, documents, CURRENT and a snapshot, and then changes")
  func sequence() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", ["n": 1]), set("d/x", [:]))
    var watch = await WatchDriver(backend)

    try await watch.add(2, query("c"))
    #expect(try await watch.messages() == ["ADD [2]", "DOC c/a +[2] -[]", "CURRENT [2]", "SNAPSHOT"])

    let time = try await backend.commit(set("c/a", ["n": 2]), set("c/b", [:])).commitTime
    #expect(try await watch.messages() == ["DOC c/a +[2] -[]", "DOC c/b +[2] -[]", "SNAPSHOT"])
    #expect(watch.client.readTime == time)

    try await backend.commit(delete("c/a"))
    #expect(try await watch.messages() == ["DELETE c/a +[] -[2]", "SNAPSHOT"])

    try await backend.commit(set("d/x", ["n": 1]))
    #expect(try await watch.messages() == [])
  }

  @Test("A document that leaves one target and remains in another is sent once")
  func leavesOne() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", ["n": 1]))
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"))
    try await watch.add(4, query("c", [field("n", .equal, 1)]))
    try await watch.receive()

    try await backend.commit(set("c/a", ["n": 2]))

    #expect(try await watch.messages() == ["DOC c/a +[2] -[4]", "SNAPSHOT"])
  }

  @Test("A document target reports a missing document as deleted, and then its changes")
  func documentTarget() async throws {
    let backend = try makeBackend()
    var watch = await WatchDriver(backend)
    try await watch.add(1, query("c/a"))
    #expect(try await watch.messages() == ["ADD [1]", "DELETE c/a +[] -[1]", "CURRENT [1]", "SNAPSHOT"])
    try await backend.commit(set("c/a", [:]), set("c/b", [:]))
    #expect(try await watch.messages() == ["DOC c/a +[1] -[]", "SNAPSHOT"])
    try await backend.commit(delete("c/a"))
    #expect(try await watch.messages() == ["DELETE c/a +[] -[1]", "SNAPSHOT"])
  }

  @Test("A collection group target covers every depth below its ancestor")
  func groupTarget() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("m/1", [:]), set("a/1/m/2", [:]), set("b/1/m/3", [:]))
    var watch = await WatchDriver(backend)
    try await watch.add(2, group("m"))
    try await watch.add(4, group("m", below: "a/1"))
    try await watch.receive()
    #expect(watch.client.paths(2) == ["a/1/m/2", "b/1/m/3", "m/1"])
    #expect(watch.client.paths(4) == ["a/1/m/2"])

    try await backend.commit(delete("m/1"), set("a/1/m/4", [:]), set("a/2/m/5", [:]))
    try await watch.receive()

    #expect(watch.client.paths(2) == ["a/1/m/2", "a/1/m/4", "a/2/m/5", "b/1/m/3"])
    #expect(watch.client.paths(4) == ["a/1/m/2", "a/1/m/4"])
  }

  @Test("An invalid query removes its target with the cause, and others continue")
  func invalidQuery() async throws {
    let backend = try makeBackend()
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c", [field("n", .in, [])]))
    try await watch.add(4, query("c"))
    #expect(
      try await watch.messages()
        == ["ADD [2]", "REMOVE [2] invalid-argument", "ADD [4]", "CURRENT [4]", "SNAPSHOT"])
    // The client's removal crossed the failure: it is not answered a second time.
    try await watch.remove(2)
    #expect(try await watch.messages() == [])
  }

  @Test("A removed target is acknowledged once, and its id is reusable immediately")
  func remove() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", [:]))
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"))
    try await watch.receive()
    try await backend.commit(set("c/b", [:]))

    try await watch.remove(2)
    try await watch.add(2, query("d"))

    #expect(try await watch.messages() == ["REMOVE [2]", "ADD [2]", "CURRENT [2]", "SNAPSHOT"])
    try await backend.commit(set("c/c", [:]))
    #expect(try await watch.messages() == [])
  }

  @Test("Removing an unknown target gets no response")
  func removeUnknown() async throws {
    var watch = await WatchDriver(try makeBackend())
    try await watch.add(2, query("c"))
    try await watch.receive()
    try await watch.remove(77)
    try await watch.remove(2)
    try await watch.remove(2)
    #expect(try await watch.messages() == ["REMOVE [2]"])
  }

  @Test("A target id that is in use or negative is a stream error")
  func targetIDs() async throws {
    let backend = try makeBackend()
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"))
    await #expect(throws: RPCStatus.self) { try await watch.add(2, query("d")) }
    await #expect(throws: RPCStatus.self) { try await watch.add(-1, query("d")) }
  }

  @Test("Commits that a slow client has not read are merged into the newest state")
  func merging() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", ["n": 0]))
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"))
    try await watch.receive()

    for n: Int64 in 1...5 { try await backend.commit(set("c/a", ["n": .integer(n)])) }
    try await backend.commit(set("c/b", [:]))
    let last = try await backend.commit(delete("c/b")).commitTime

    #expect(try await watch.messages() == ["DOC c/a +[2] -[]", "SNAPSHOT"])
    #expect(watch.client.documents[2]?[key("c/a")]?["n"] == 5)
    #expect(watch.client.readTime == last)
  }

  @Test("More unread documents than the limit are read from storage without a reset")
  func overflow() async throws {
    let backend = try makeBackend()
    var watch = await WatchDriver(backend)
    let count = PendingChanges.maximumCount + 10
    try await backend.commit(set("c/gone", ["n": 1]), set("c/changed", ["n": 1]))
    try await watch.add(2, query("c"))
    try await watch.add(4, query("c", [field("n", .equal, 1)]))
    try await watch.receive()

    try await backend.commit(delete("c/gone"), set("c/changed", ["n": 2]))
    try await backend.commit((0..<count).map { set("c/\($0)", [:]) }, in: database)
    try await backend.commit(delete("c/0"))
    try await watch.receive()

    #expect(watch.client.resets == 0 && watch.client.snapshots == 2)
    #expect(watch.client.paths(2).count == count && watch.client.paths(4) == [])
    #expect(watch.client.current == [2, 4])
  }

  @Test("Each step sends about 256 KiB of documents, and the last step sends a snapshot")
  func steps() async throws {
    let backend = try makeBackend()
    let text = Value.string(String(repeating: "x", count: 50_000))
    func write(_ n: Int64) async throws {
      try await backend.commit((0..<30).map { set("c/\(100 + $0)", ["n": .integer(n), "text": text]) }, in: database)
    }
    try await write(0)
    let targets = [
      query("c"), query("c", orderBy: [OrderBy(FieldPath("text"))], limit: 20),
      query("c", [FieldFilter(.documentID, .in, .array((0..<30).map { name("c/\(100 + $0)") }))]),
    ]
    for target in targets {
      var watch = await WatchDriver(backend)
      try await watch.add(2, target)
      for round in 0..<2 {
        let snapshots = watch.client.snapshots
        var (told, hasMore) = (0, true)
        while hasMore {
          let delivery = try await backend.take(from: watch.session)
          let documents = delivery.changes.count { if case .document = $0 { true } else { false } }
          #expect(documents <= 6)
          told += documents
          hasMore = delivery.hasMore
          delivery.changes.forEach { watch.client.apply($0) }
          #expect(watch.client.snapshots == snapshots + (hasMore ? 0 : 1))
        }
        #expect(told == target.limit ?? 30, "\(target), \(round)")
        try await write(Int64(round + 1))
      }
      await backend.closeWatch(watch.session)
    }
  }

  @Test("Commits before and after a running read's position are sent correctly")
  func commitsWhileReading() async throws {
    let backend = try makeBackend()
    let count = SessionTarget.stepSize * 3
    try await backend.commit((0..<count).map { set("c/\(10_000 + $0)", ["n": 0]) }, in: database)
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c", [field("n", .equal, 0)]))
    for _ in 0..<3 { for change in try await backend.take(from: watch.session).changes { watch.client.apply(change) } }
    #expect(watch.client.current.isEmpty)

    let (early, late) = ("c/10001", "c/\(10_000 + count - 1)")
    try await backend.commit(set(early, ["n": 1]), set(late, ["n": 1]), set("c/10000x", ["n": 0]), set("c/9", ["n": 0]))
    try await watch.receive()

    let expected = try await backend.paths(query("c", [field("n", .equal, 0)]))
    #expect(watch.client.paths(2) == expected.sorted())
    #expect(watch.client.current == [2])
    #expect(watch.client.snapshots == 1)
  }

  @Test("A heartbeat sends every stream a snapshot of the last commit")
  func heartbeat() async throws {
    let backend = try makeBackend()
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"))
    try await watch.receive()
    let time = try await backend.commit(set("d/x", [:])).commitTime

    await backend.heartbeat()

    #expect(try await watch.messages() == ["SNAPSHOT"])
    #expect(watch.client.readTime == time)
  }

  @Test("Deleting everything resets query targets and deletes document targets")
  func deleteAll() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", [:]), set("c/b", [:]))
    var watch = await WatchDriver(backend)
    try await watch.add(1, query("c/a"))
    try await watch.add(2, query("c"))
    try await watch.receive()

    try await backend.deleteAllDocuments(in: database)

    #expect(
      try await watch.messages() == ["DELETE c/a +[] -[1]", "CURRENT [1]", "RESET [2]", "CURRENT [2]", "SNAPSHOT"])
    #expect(watch.client.paths(1) == [] && watch.client.paths(2) == [])
  }

  @Test("The streams of one database receive no changes from another database")
  func databases() async throws {
    let backend = try makeBackend()
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"))
    try await watch.receive()
    try await backend.commit([set("c/a", [:])], in: DatabaseID(project: "p", database: "other"))
    #expect(try await watch.messages() == [])
  }

  static let oracleTargets: [(Int32, Target)] = [
    (2, query("c")),
    (4, query("c", limit: 5)),
    (6, query("c", orderBy: [OrderBy(FieldPath("n"))], limit: 3)),
    (8, query("c", orderBy: [OrderBy(FieldPath("n"), .descending)], limit: 20)),
    (10, query("c", [field("s", .equal, "x")], orderBy: [OrderBy(FieldPath("n"))], limit: 4)),
    (12, query("c", [field("n", .greaterThan, 10)])),
    (14, query("c", orderBy: [OrderBy(FieldPath("n"))], limit: 6, start: Bound(values: [5], isInclusive: true))),
    (16, query("c", orderBy: [OrderBy(FieldPath("n"))], end: Bound(values: [12], isInclusive: false))),
    (18, group("c")),
    (20, group("c", limit: 7)),
    (22, query("c/d3")),
    (24, query("c", [field("s", .in, ["x", "y"]), field("n", .lessThanOrEqual, 15)], limit: 30)),
  ]

  @Test(
    "After every commit the sent messages add up to the query results",
    arguments: 1...TestSize.count(2, full: 6))
  func oracle(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let backend = try makeBackend()
    var eager = await WatchDriver(backend)
    var lazy = await WatchDriver(backend)
    for (id, target) in Self.oracleTargets {
      try await eager.add(id, target)
      try await lazy.add(id, target)
    }
    for round in 0..<TestSize.count(80, full: 150) {
      let mutations = (0..<Int.random(in: 1...6, using: &random)).map { _ in Self.randomMutation(&random) }
      let time = try await backend.commit(mutations, in: database).commitTime

      try await eager.receive()
      try await Self.compare(eager, backend, "seed \(seed) round \(round): \(mutations.map(\.key))")
      #expect(eager.client.readTime ?? time <= time)
      if Int.random(in: 0..<8, using: &random) == 0 {
        try await lazy.receive()
        try await Self.compare(lazy, backend, "slow client, seed \(seed) round \(round)")
      }
    }
    #expect(eager.client.resets == 0)
  }

  static func randomMutation(_ random: inout SeededGenerator) -> Mutation {
    let collection = ["c", "c", "c", "c/d1/c", "e/1/c", "other"].randomElement(using: &random) ?? "c"
    let path = "\(collection)/d\(Int.random(in: 0..<40, using: &random))"
    if Int.random(in: 0..<3, using: &random) == 0 { return delete(path) }
    var fields: Fields = ["s": .string(["x", "y", "z"].randomElement(using: &random) ?? "x")]
    if Int.random(in: 0..<10, using: &random) > 0 { fields["n"] = .integer(Int64.random(in: 0..<20, using: &random)) }
    return set(path, fields)
  }

  static func compare(_ watch: WatchDriver, _ backend: LocalBackend, _ trace: String) async throws {
    for (id, target) in oracleTargets {
      let expected = try await backend.runQuery(target, in: database)
      let actual = watch.client.documents[TargetID(id)] ?? [:]
      #expect(actual.keys.map(\.path.text).sorted() == expected.map(\.path).sorted(), "target \(id), \(trace)")
      for document in expected {
        #expect(actual[document.key]?.version == document.version, "target \(id) \(document.path), \(trace)")
      }
    }
  }
}
