// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Testing

@testable import FirestoreLocal

@Suite("Cache inspection")
struct InsideTests {
  /// A clock that a test moves.
  private final class Times {
    var now = Duration.zero
  }

  private static func found(_ count: Int, _ plan: QueryPlan = .scan) -> QueryResult {
    QueryResult(
      matches: (0..<count).map { doc("rooms/\($0)", at: 1) }, remoteKeys: [], plan: plan, documentsScanned: count * 2)
  }

  @Test("Query times are grouped by collection size, with the 99th percentile")
  func percentiles() throws {
    let times = Times()
    let ledger = QueryLedger { times.now }
    func run(_ milliseconds: Int, of extent: Int?) throws {
      _ = try ledger.time(collection("rooms"), extent: extent) { () throws(StoreError) in
        times.now += .milliseconds(milliseconds)
        return Self.found(3)
      }
    }
    // Before somebody looks, no size is asked for.
    try run(7, of: 10)
    #expect(ledger.queries().first?.classes.map(\.limit) == [nil])
    for milliseconds in [4, 1, 2, 3] { try run(milliseconds, of: 10) }
    for milliseconds in 1...200 { try run(milliseconds, of: 11) }

    let query = try #require(ledger.queries().first)
    #expect(
      query.classes == [
        QueryTimes.Class(limit: nil, runs: 1, median: .milliseconds(7), p99: .milliseconds(7)),
        QueryTimes.Class(limit: 10, runs: 4, median: .milliseconds(2), p99: .milliseconds(4)),
        QueryTimes.Class(limit: 100, runs: 200, median: .milliseconds(100), p99: .milliseconds(198)),
      ])
    #expect(query.runs == 205 && query.scanned == 6 && query.found == 3 && query.plan == .scan)

    // Without a size the documents that were looked at count.
    try run(5, of: nil)
    #expect(ledger.queries().first?.classes.map(\.runs) == [1, 5, 200])
  }

  @Test("Only the most recent queries, and the most recent runs of each, are kept")
  func bounds() throws {
    let times = Times()
    let ledger = QueryLedger { times.now }
    func run(_ name: String) throws {
      _ = try ledger.time(collection(name), extent: 1) { () throws(StoreError) in Self.found(0) }
    }
    for number in 0..<70 { try run("c\(number)") }
    #expect(ledger.queries().map(\.query.path.text) == (6..<70).reversed().map { "c\($0)" })
    for _ in 0..<300 { try run("c69") }
    #expect(ledger.queries().first?.runs == 301 && ledger.queries().first?.classes.map(\.runs) == [256])
  }

  @Test("Every store query is timed, whatever its plan", arguments: Storage.allCases)
  func timed(_ storage: Storage) throws {
    var store = try Place(storage).open()
    let id = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 5, (0..<12).map { doc("rooms/\($0)", at: 5) }, addedTo: id, token: token("t")))
    let times = Times()
    store.queryLedger = QueryLedger {
      times.now += .microseconds(1500)
      return times.now
    }
    #expect(store.queryLedger.queries().isEmpty)
    _ = try store.execute(collection("rooms"), usingPreviousResults: false)
    let query = try #require(store.queryLedger.queries().first)
    #expect(
      query.classes
        == [QueryTimes.Class(limit: 100, runs: 1, median: .microseconds(1500), p99: .microseconds(1500))])
    #expect(query.scanned == 12 && query.found == 12)
    try close(store)
  }

  @Test("A cache survey counts every document once, in slices, by collection", arguments: Storage.allCases)
  func survey(_ storage: Storage) throws {
    var store = try Place(storage).open()
    let id = try store.allocateTarget(collection("rooms").target).id
    let rooms = (0..<2500).map { doc("rooms/\($0)", at: 5) }
    _ = try store.apply(event(at: 5, rooms, addedTo: id, token: token("t")))
    _ = try store.apply(event(at: 6, [doc("halls/a", at: 6), doc("halls/b", at: 6, nil)]))

    var run = store.beginSurvey(pacer: .pieces(1))
    var slices = 0
    while !run.isFinished {
      try store.continueSurvey(&run)
      slices += 1
    }
    let shares = try store.shares(of: run, leaving: GarbageCollectionPlan()).sorted { $0.path < $1.path }
    // Each piece of each table is a slice: three of documents and of memberships, and one at least of every other.
    #expect(slices >= 3 + 3 + 2 + 11)
    #expect(shares.map(\.path.text) == ["halls", "rooms"])
    #expect(shares.map(\.documents) == [1, 2500] && shares.map(\.names) == [1, 0])
    #expect(shares.allSatisfy { $0.bytes > 0 && $0.leavingDocuments == 0 })
    try close(store)
  }

  @Test(
    "A cache survey counts all users' overlays by collection, and every table's rows", arguments: Storage.allCases)
  func contents(_ storage: Storage) throws {
    var store = try Place(storage).open()
    let id = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 5, (0..<30).map { doc("rooms/\($0)", at: 5) }, addedTo: id, token: token("t")))
    try store.start(user: "other")
    _ = try store.write([patch("rooms/1", ["n": .integer(2)])], at: now)
    _ = try store.changeUser(to: nil)
    for number in 0..<3 { _ = try store.write([patch("rooms/\(number)", ["n": .integer(2)])], at: now) }
    _ = try store.write([patch("rooms/0", ["n": .integer(3)]), set("drafts/a")], at: now)
    try store.set(Retention(collection("rooms").target, .pinned, since: now))

    var run = store.beginSurvey(pacer: .pieces(1))
    while !run.isFinished { try store.continueSurvey(&run) }
    let shares = try store.shares(of: run, leaving: GarbageCollectionPlan()).sorted { $0.path < $1.path }
    let contents = try store.contents(of: run)

    #expect(shares.map(\.path.text) == ["drafts", "rooms"])
    #expect(shares.map(\.documents) == [0, 30] && shares.map(\.overlays) == [1, 3])
    let rows = Dictionary(uniqueKeysWithValues: contents.tables.map { ($0.name, $0.rows) })
    #expect(rows["documents"] == 30 && rows["target_documents"] == 30 && rows["mutation_batches"] == 5)
    // Five overlays, one of them another user's, and a row for each document of a batch.
    #expect(rows["pending_documents"] == 5 + 6 && rows["retentions"] == 1 && rows["targets"] == 1)
    #expect(contents.tables.first?.bytes ?? 0 > 0 && rows["index_entries"] == nil)
    #expect(contents.pageCount > 0 && contents.pageBytes == 4096)
    #expect(contents.checksums == (storage == .memory ? .unneeded : .intact))
    #expect(storage == .durable || contents.logBytes == 0)
    try close(store)
  }

  @Test("Every index entry is counted in slices, including those of dropped indexes")
  func indexEntries() throws {
    var store = try Place(.memory).open()
    store.backfillPacer = .pieces(10)
    _ = try store.apply(
      event(at: 5, (0..<2_300).map { doc("rooms/\($0)", at: 5, ["n": .integer(Int64($0)), "m": .integer(1)]) }))
    let (byN, byM) = (try index("n"), try index("m"))
    try store.setIndexes([byN, byM])
    let begun = try counted(&store)
    #expect(begun.indexes.map(\.entries) == [0, 0] && begun.indexes.allSatisfy { $0.state.backfill != nil })

    while try store.backfillIndexes() {}
    let filled = try counted(&store)
    #expect(filled.indexes.map(\.state.definition) == [byN, byM] && filled.indexes.map(\.entries) == [2_300, 2_300])
    #expect(filled.indexes.allSatisfy { $0.state.backfill == nil && $0.bytes >= 2_300 * 8 })
    #expect(filled.tables.first { $0.name == "index_entries" }?.rows == 4_600)

    try store.setIndexes([byN])
    let dropped = try counted(&store)
    #expect(dropped.indexes.map(\.entries) == [2_300] && dropped.droppedEntries == 2_300)
    try close(store)
  }

  private func index(_ name: String) throws -> FieldIndex {
    try FieldIndex(collectionGroup: "rooms", fields: [FieldIndex.Field(FieldPath(name))])
  }

  private func counted(_ store: inout LocalStore) throws -> CacheContents {
    var run = store.beginSurvey(pacer: .pieces(1))
    while !run.isFinished { try store.continueSurvey(&run) }
    return try store.contents(of: run)
  }

  @Test("The documents that garbage collection would evict are counted by collection")
  func leaving() throws {
    var store = try Place(.durable).open()
    for (time, name) in ["old", "new"].enumerated() {
      let id = try store.allocateTarget(collection(name).target).id
      let documents = (0..<40).map { doc("\(name)/\($0)", at: 5) }
      _ = try store.apply(event(at: Int64(time + 5), documents, addedTo: id, token: token("t")))
      try store.releaseTarget(id)
    }
    var plan = try #require(
      try store.beginGarbageCollection(
        thresholdBytes: 0, percentile: 50, maximumSequenceNumbers: 1000, isDryRun: true))
    while !plan.isFinished { try store.continueGarbageCollection(&plan) }
    var run = store.beginSurvey()
    while !run.isFinished { try store.continueSurvey(&run) }
    let shares = try store.shares(of: run, leaving: plan.plan).sorted { $0.path < $1.path }
    #expect(shares.map(\.leavingDocuments) == [0, 40])
    #expect(shares.last?.leavingBytes == plan.plan.bytes && shares.last?.leavingBytes == shares.last?.bytes)

    let result = try store.collectGarbage(thresholdBytes: 0, percentile: 50, maximumSequenceNumbers: 1000)
    #expect(result.documentsRemoved == 40)
    try close(store)
  }

  @Test("Eviction candidates are listed by last use: query results first, then documents")
  func victims() throws {
    var store = try Place(.memory).open()
    _ = try store.apply(event(at: 4, [doc("loose/a", at: 4), doc("loose/b", at: 4)]))
    for (time, name) in ["old", "new"].enumerated() {
      let id = try store.allocateTarget(collection(name).target).id
      _ = try store.apply(event(at: Int64(time + 5), [doc("\(name)/x", at: 5)], addedTo: id, token: token("t")))
      try store.releaseTarget(id)
    }
    // A waiting write keeps its document.
    _ = try store.write([patch("loose/b", ["n": .integer(1)])], at: now)

    var plan = try #require(
      try store.beginGarbageCollection(
        thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: 1000, isDryRun: true))
    while !plan.isFinished { try store.continueGarbageCollection(&plan) }
    let victims = store.victims(of: plan.plan)

    #expect(victims.map(\.lastUse) == victims.map(\.lastUse).sorted())
    let names = victims.map { victim in
      switch victim.subject {
      case .result(let target, let documents): "result \(target.path.text) \(documents)"
      case .document(let key, _): key.path.text
      }
    }
    #expect(names.first == "loose/a" && !names.contains("loose/b"))
    #expect(names.filter { $0.hasPrefix("result") } == ["result old 1", "result new 1"])
    #expect(names.filter { !$0.hasPrefix("result") } == ["loose/a", "old/x", "new/x"])
    try close(store)
  }

  @Test("Offline, only a collection that was listened to in full is shown as complete")
  func coverage() throws {
    var store = try Place(.memory).open()
    for (query, time) in [
      (collection("all"), Int64(5)), (collection("all", [field("n", .equal, .integer(1))]), 6),
      (collection("some", [field("n", .equal, .integer(1))]), 7), (Query(path: ResourcePath("some"), limit: 3), 8),
    ] {
      let id = try store.allocateTarget(query.target).id
      let documents = [doc("\(query.path.text)/x", at: 5)]
      _ = try store.apply(event(at: time, documents, addedTo: id, token: token("t\(time)")))
      try store.releaseTarget(id)
    }
    _ = try store.apply(event(at: 9, [doc("single/x", at: 9)]))
    // A listener that the server has not answered has no result.
    _ = try store.allocateTarget(collection("single").target)

    var run = store.beginSurvey()
    while !run.isFinished { try store.continueSurvey(&run) }
    let shares = try store.shares(of: run, leaving: GarbageCollectionPlan()).sorted { $0.path < $1.path }

    #expect(
      shares.map(\.coverage) == [
        CacheSurvey.Coverage(wholeAsOf: version(5).timestamp, results: 1, newestResult: version(6).timestamp),
        CacheSurvey.Coverage(), CacheSurvey.Coverage(results: 2, newestResult: version(8).timestamp),
      ])
    try close(store)
  }

  private func all(
    _ path: String?, in store: inout LocalStore
  ) throws -> (documents: [CachedDocument], pages: Int) {
    var pages = CachePages(of: path.map { ResourcePath($0) })
    var (documents, count): ([CachedDocument], Int) = ([], 0)
    while !pages.isFinished {
      documents += try store.nextPage(&pages)
      count += 1
    }
    return (documents, count)
  }

  @Test("All documents are read in pages as the backend sent them, with their read time")
  func pages() throws {
    var store = try Place(.memory).open()
    _ = try store.apply(event(at: 3, (0..<450).map { doc("rooms/\($0)", at: 2) } + [doc("halls/gone", at: 3, nil)]))
    _ = try store.apply(event(at: 4, [doc("rooms/1/desks/a", at: 4)]))
    _ = try store.write([patch("rooms/1", ["n": .integer(9)])], at: now)
    let (documents, count) = try all(nil, in: &store)
    #expect(documents.count == 451 && count == 3)
    #expect(documents.allSatisfy { !$0.document.hasPendingWrites })
    #expect(documents.first { $0.document.key == key("rooms/1") }?.readTime == version(3))
    let part = try all("rooms/1", in: &store).documents
    #expect(part.map(\.document.key.path.text) == ["rooms/1", "rooms/1/desks/a"])
    let none = try all("nothere", in: &store).documents
    #expect(none.isEmpty)
    try close(store)
  }
}
