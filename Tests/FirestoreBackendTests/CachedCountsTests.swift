// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestoreBackend

@Suite("Document counts of watched queries")
struct CachedCountsTests {
  private func known(
    _ counts: CachedCounts, _ target: Target, _ log: inout CommitLog
  ) throws -> (number: Int?, counted: Int) {
    let start = try log.historyStart(of: database)
    return try log.read(database) { reader throws(StoreError) in
      let number = try counts.number(of: target, reader, historyStart: start)
      return (number, try reader.countMatches(of: ServedQuery(target)))
    }
  }

  private func note(_ counts: CachedCounts, _ target: Target, _ log: inout CommitLog) throws {
    try log.read(database) { reader throws(StoreError) in
      counts.note(try reader.countMatches(of: ServedQuery(target)), of: target, reader)
    }
  }

  private func makeLog(_ clock: TestClock = TestClock(), keptChanges: Int = 100_000) throws -> CommitLog {
    try CommitLog(BackendConfiguration(location: .memory, now: clock.now), keptChanges: keptChanges)
  }

  private func commit(_ mutations: Mutation..., to log: inout CommitLog) throws {
    for result in log.commit([CommitOrder(mutations, in: database)]) { _ = try result.get() }
  }

  @Test("After any commits the cached count equals the actual document count", arguments: 1...4)
  func random(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var log = try makeLog()
    let counts = CachedCounts()
    for (_, target) in WatchTests.oracleTargets where target.limit == nil {
      try note(counts, target, &log)
    }
    for round in 0..<60 {
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        try commit(WatchTests.randomMutation(&random), to: &log)
      }
      for (id, target) in WatchTests.oracleTargets where target.limit == nil && !target.isDocumentTarget {
        let (number, counted) = try known(counts, target, &log)
        #expect(number == counted, "target \(id), seed \(seed), round \(round)")
        // Some are noted anew, others are told from far back.
        if Int.random(in: 0...3, using: &random) == 0 { try note(counts, target, &log) }
      }
    }
  }

  @Test("A count is unknown after missed changes, a bulk delete or pruned history")
  func unknown() throws {
    let clock = TestClock()
    var log = try makeLog(clock, keptChanges: 10)
    let counts = CachedCounts()
    #expect(try known(counts, query("c"), &log).number == nil)
    try commit(set("c/a", [:]), to: &log)
    try note(counts, query("c"), &log)
    #expect(try known(counts, query("c"), &log).number == 1)

    for number in 0..<CommitLog.pruningSlack + 20 { try commit(set("d/\(number)", [:]), to: &log) }
    #expect(try known(counts, query("c"), &log).number == nil)

    try note(counts, query("c"), &log)
    _ = try log.deleteAllDocuments(in: database)
    #expect(try known(counts, query("c"), &log) == (nil, 0))

    try note(counts, query("c"), &log)
    try commit(set("c/b", [:]), to: &log)
    clock.advance(DocumentHistory.kept + 1_000_000)
    try log.pruneHistory()
    #expect(try known(counts, query("c"), &log).number == nil)
    #expect(
      try log.read(database) { reader throws(StoreError) in
        counts.note(7, of: query("c"), reader.at(1))
        return try counts.number(of: query("c"), reader.at(1), historyStart: 0)
      } == nil)
  }
}
