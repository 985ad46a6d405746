// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestoreBackend

@Suite struct ResumeTests {
  /// A client that has seen `target` complete and then went away.
  private func seen(_ backend: LocalBackend, _ target: Target) async throws -> (ResumeToken, WatchClient) {
    var watch = await WatchDriver(backend)
    try await watch.add(2, target)
    try await watch.receive()
    await backend.closeWatch(watch.session)
    return (try #require(watch.client.token), watch.client)
  }

  private func resume(
    _ backend: LocalBackend, _ target: Target, _ token: ResumeToken, count: Int?
  ) async throws -> WatchDriver {
    var watch = await WatchDriver(backend)
    try await watch.add(2, target, resume: .token(token), expectedCount: count)
    try await watch.receive()
    return watch
  }

  @Test("A resume without changes gets only CURRENT and a snapshot")
  func unchanged() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", [:]), set("c/b", [:]))
    for target in [query("c"), query("c", limit: 1), query("c/a")] {
      let (token, client) = try await seen(backend, target)
      let watch = try await resume(backend, target, token, count: client.paths(2).count)
      #expect(watch.client.log == ["ADD [2]", "CURRENT [2]", "SNAPSHOT"])
    }
  }

  @Test("A resume gets only later changes, with deletes and removals by name")
  func changes() async throws {
    let backend = try makeBackend()
    let target = query("c", [field("n", .equal, 1)])
    try await backend.commit(["a", "b", "c", "d"].map { set("c/\($0)", ["n": 1]) }, in: database)
    let (token, _) = try await seen(backend, target)

    try await backend.commit(set("c/a", ["n": 1, "m": 2]), set("c/b", ["n": 2]), delete("c/c"))
    try await backend.commit(set("c/e", ["n": 1]), set("other/x", ["n": 1]))
    let watch = try await resume(backend, target, token, count: 4)

    #expect(
      watch.client.log == [
        "ADD [2]", "DOC c/a +[2] -[]", "DOC c/b +[] -[2]", "DELETE c/c +[] -[2]", "DOC c/e +[2] -[]", "CURRENT [2]",
        "SNAPSHOT",
      ])
  }

  @Test("A resumed target gets no changes to documents that were never in it")
  func foreign() async throws {
    let backend = try makeBackend()
    let target = query("c", [field("n", .equal, 1)])
    try await backend.commit(set("c/mine", ["n": 1]), set("c/other", ["n": 2]), delete("c/nothing"))
    let (token, _) = try await seen(backend, target)

    try await backend.commit((0..<3_000).map { set("c/\($0)", ["n": 2]) }, in: database)
    try await backend.commit(set("c/other", ["n": 3]), set("c/passing", ["n": 1]))
    try await backend.commit(delete("c/passing"), set("c/mine", ["n": 2]))
    try await backend.commit(set("c/mine", ["n": 1]))
    for count in [1, nil] {
      let watch = try await resume(backend, target, token, count: count)
      #expect(watch.client.log == ["ADD [2]", "DOC c/mine +[2] -[]", "CURRENT [2]", "SNAPSHOT"])
    }
  }

  @Test("If the history is too short, a resume with a count gets a filter, else a reset")
  func forgotten() async throws {
    let clock = TestClock()
    let backend = try makeBackend(clock: clock)
    let targets = [query("c", [field("n", .equal, 1)]), query("c", orderBy: [OrderBy(FieldPath("n"))], limit: 2)]
    try await backend.commit(set("c/a", ["n": 1]), set("c/b", ["n": 1]), set("c/x", ["n": 5]))
    for target in targets {
      let (token, client) = try await seen(backend, target)
      #expect(client.paths(2) == ["c/a", "c/b"])
      try await backend.commit(set("c/b", ["n": 9]), set("c/y", ["n": 9]), set("c/0", ["n": 1]))
      clock.advance(DocumentHistory.kept + 1_000_000)

      let counted = try await resume(backend, target, token, count: 2)
      let uncounted = try await resume(backend, target, token, count: nil)

      #expect(counted.client.filters[2]?.count == 2 && counted.client.filters[2]?.unchangedNames != nil)
      #expect(counted.client.log.allSatisfy { !$0.contains("-[2]") } && counted.client.paths(2).contains("c/0"))
      #expect(uncounted.client.resets == 1 && uncounted.client.paths(2) == ["c/0", "c/a"])
      // Of a present that is older than that everything is known.
      let (last, _) = try await seen(backend, target)
      #expect(try await resume(backend, target, last, count: nil).client.log == ["ADD [2]", "CURRENT [2]", "SNAPSHOT"])
      try await backend.commit(set("c/b", ["n": 1]), delete("c/0"))
    }
  }

  @Test("A resumed limit query receives additions, removals and changes")
  func window() async throws {
    let backend = try makeBackend()
    let target = query("c", orderBy: [OrderBy(FieldPath("n"))], limit: 2)
    try await backend.commit(set("c/a", ["n": 1]), set("c/b", ["n": 2]), set("c/c", ["n": 3]))
    let (token, client) = try await seen(backend, target)
    #expect(client.paths(2) == ["c/a", "c/b"])

    try await backend.commit(set("c/d", ["n": 0]), set("c/c", ["n": 4]))
    let watch = try await resume(backend, target, token, count: 2)
    #expect(
      watch.client.log == ["ADD [2]", "DOC c/b +[] -[2]", "DOC c/d +[2] -[]", "CURRENT [2]", "SNAPSHOT"])

    try await backend.commit(set("c/a", ["n": 1, "m": 1]))
    let changed = try await resume(backend, target, token, count: 1)
    #expect(changed.client.paths(2) == ["c/a", "c/d"])
    // It had two, not the one that it says.
    let filter = try #require(changed.client.filters[2])
    #expect(filter.count == 2)
    var expected = BloomFilterBuilder(count: 2, falsePositiveRate: 0.0001)
    for id in ["a", "d"] { expected.insert(database.name(of: key("c/\(id)"))) }
    #expect(filter.unchangedNames == expected.bits)
  }

  @Test("A resume with a wrong count gets a filter, which has no names if the count was 0")
  func wrongCount() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", [:]), set("c/b", [:]))
    let (token, _) = try await seen(backend, query("c"))

    let more = try await resume(backend, query("c"), token, count: 5)
    let none = try await resume(backend, query("c"), token, count: 0)
    let unsaid = try await resume(backend, query("c"), token, count: nil)

    #expect(more.client.filters[2]?.count == 2)
    #expect(more.client.filters[2]?.unchangedNames != nil)
    #expect(none.client.filters[2]?.count == 2)
    #expect(none.client.filters[2]?.unchangedNames == nil)
    #expect(unsaid.client.filters[2] == nil)
  }

  @Test("A foreign, future or invalid token resets the target")
  func unknownTokens() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", [:]))
    let other = try makeBackend(clock: TestClock(9_000_000_000))
    try await other.commit(set("c/a", [:]))
    let (foreign, _) = try await seen(other, query("c"))
    // Its own position, an hour later.
    let (own, _) = try await seen(backend, query("c"))
    let later = try #require(ResumePosition(own, instance: backend.instance)).version + 3_600_000_000
    let future = try #require(
      ResumeToken(own.bytes.dropLast(8) + (0..<8).map { UInt8(truncatingIfNeeded: later >> (56 - 8 * $0)) }))
    for token in [foreign, future, try #require(ResumeToken([7]))] {
      let watch = try await resume(backend, query("c"), token, count: 1)
      #expect(watch.client.log == ["ADD [2]", "RESET [2]", "DOC c/a +[2] -[]", "CURRENT [2]", "SNAPSHOT"])
    }
  }

  @Test("A token older than the history resets the target, and a newer token does not")
  func tooOld() async throws {
    let backend = try makeBackend(keptChanges: 10)
    try await backend.commit(set("c/first", [:]))
    let (old, _) = try await seen(backend, query("c"))
    for n in 0..<30 { try await backend.commit(set("d/\(n)", [:])) }
    let (young, _) = try await seen(backend, query("c"))
    try await backend.commit(set("c/second", [:]))

    let reset = try await resume(backend, query("c"), old, count: 1)
    let resumed = try await resume(backend, query("c"), young, count: 1)

    #expect(reset.client.resets == 1)
    #expect(reset.client.paths(2) == ["c/first", "c/second"])
    #expect(resumed.client.resets == 0)
    #expect(resumed.client.paths(2) == ["c/second"])
  }

  @Test("A target can resume from a read time instead of a token")
  func readTime() async throws {
    let backend = try makeBackend()
    let time = try await backend.commit(set("c/a", [:])).commitTime
    try await backend.commit(set("c/b", [:]))
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"), resume: .readTime(time))
    #expect(try await watch.messages() == ["ADD [2]", "DOC c/b +[2] -[]", "CURRENT [2]", "SNAPSHOT"])
  }

  @Test("A resume that needs several steps is complete, with commits between the steps")
  func manyChanges() async throws {
    let backend = try makeBackend()
    let count = SessionTarget.stepSize * 2 + 5
    try await backend.commit(set("c/0", [:]))
    let (token, _) = try await seen(backend, query("c"))
    try await backend.commit((1..<count).map { set("c/\($0)", [:]) }, in: database)
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"), resume: .token(token), expectedCount: 1)
    for _ in 0..<2 { for change in try await backend.take(from: watch.session).changes { watch.client.apply(change) } }

    try await backend.commit(delete("c/1"), delete("c/\(count - 1)"), set("c/new", [:]))
    try await watch.receive()

    #expect(watch.client.paths(2).count == count - 2)
    #expect(watch.client.snapshots == 1)
  }

  @Test(
    "Resuming in single-document steps with commits in between converges",
    arguments: 1...TestSize.count(2, full: 4))
  func smallSteps(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let backend = try makeBackend()
    var held: [TargetID: [DocumentKey: Document]] = [:]
    var token: ResumeToken?
    for round in 0..<12 {
      var watch = await WatchDriver(backend)
      watch.client.documents = held
      for (id, target) in WatchTests.oracleTargets {
        try await watch.add(
          id, target, resume: token.map { .token($0) },
          expectedCount: token == nil ? nil : held[TargetID(id)]?.count ?? 0)
      }
      var commits = 20
      while try await watch.step(upTo: 1) {
        guard commits > 0, Int.random(in: 0..<3, using: &random) == 0 else { continue }
        try await backend.commit(WatchTests.randomMutation(&random))
        commits -= 1
      }
      try await WatchTests.compare(watch, backend, "seed \(seed), round \(round)")
      #expect(watch.client.resets == 0, "seed \(seed), round \(round)")
      (held, token) = (watch.client.documents, watch.client.token)
      await backend.closeWatch(watch.session)
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        try await backend.commit(WatchTests.randomMutation(&random))
      }
    }
  }

  @Test(
    "Listeners converge after random stops and resumes; limit queries need no reset",
    arguments: 1...TestSize.count(2, full: 4))
  func oracle(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let backend = try makeBackend()
    var held: [TargetID: [DocumentKey: Document]] = [:]
    var token: ResumeToken?
    for round in 0..<40 {
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        try await backend.commit(WatchTests.randomMutation(&random))
      }
      var watch = await WatchDriver(backend)
      watch.client.documents = held
      for (id, target) in WatchTests.oracleTargets {
        try await watch.add(
          id, target, resume: token.map { .token($0) },
          expectedCount: token == nil ? nil : held[TargetID(id)]?.count ?? 0)
      }
      try await watch.receive()
      await backend.closeWatch(watch.session)
      for (id, target) in WatchTests.oracleTargets {
        let targetID = TargetID(id)
        let expected = Set(try await backend.runQuery(target, in: database).map(\.key))
        var actual = watch.client.documents[targetID] ?? [:]
        if let filter = watch.client.filters[targetID], filter.count != actual.count {
          // The client drops what the bloom filter does not know; no false positives in so small a set.
          #expect(filter.count == expected.count)
          actual = actual.filter { expected.contains($0.key) }
        }
        #expect(Set(actual.keys) == expected, "target \(id), seed \(seed), round \(round)")
        watch.client.documents[targetID] = actual
      }
      #expect(watch.client.resets == 0)
      held = watch.client.documents
      token = watch.client.token
    }
  }
}
