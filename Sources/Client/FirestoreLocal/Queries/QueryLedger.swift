// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreQuery
import FirestoreSQLite

/// The execution times of the store's queries. The size is limited: the ledger keeps only the most recent queries, and
/// only the most recent runs of each query.
package final class QueryLedger {
  private struct Run {
    var time: Duration
    /// The number of documents that the query may have to read; `nil` for runs before the first call of `queries`.
    var extent: Int?
  }

  private struct Entry {
    var runs: [Run] = []
    var count = 0
    /// The sequence number of the last run.
    var last = 0
    var plan = QueryPlan.scan
    var scanned = 0
    var found = 0
  }

  private static let mostQueries = 64
  private static let mostRuns = 256

  /// Returns the time since a fixed point, from a monotonic clock.
  private let now: () -> Duration
  private var entries: [Query: Entry] = [:]
  private var count = 0
  /// Whether to also record the size of the queried collections for each run. Measuring the size needs additional SQL
  /// statements, so the sizes are recorded only after the times have been read for the first time.
  private var asksForExtents = false

  package init(now: @escaping () -> Duration) { self.now = now }

  /// A ledger that uses the machine's clock.
  static func continuous() -> QueryLedger {
    let clock = ContinuousClock()
    let origin = clock.now
    return QueryLedger { origin.duration(to: clock.now) }
  }

  /// Runs a query and records its time.
  /// - Parameter extent: the number of documents that the query may have to read; `nil` if unknown. The argument is
  ///   evaluated only after the times have been read for the first time.
  func time(
    _ query: Query, extent: @autoclosure () -> Int?, _ run: () throws(StoreError) -> QueryResult
  ) throws(StoreError) -> QueryResult {
    let start = now()
    let result = try run()
    note(
      query, result, took: now() - start, extent: asksForExtents ? extent() ?? result.documentsScanned : nil)
    return result
  }

  private func note(_ query: Query, _ result: QueryResult, took time: Duration, extent: Int?) {
    if entries.count >= Self.mostQueries, entries[query] == nil,
      let oldest = entries.min(by: { $0.value.last < $1.value.last })
    {
      entries[oldest.key] = nil
    }
    count += 1
    var entry = entries.removeValue(forKey: query) ?? Entry()
    entry.runs.append(Run(time: time, extent: extent))
    if entry.runs.count > Self.mostRuns { entry.runs.removeFirst(entry.runs.count - Self.mostRuns) }
    entry.count += 1
    entry.last = count
    entry.plan = result.plan
    entry.scanned = result.documentsScanned
    entry.found = min(result.matches.count, query.limit ?? .max)
    entries[query] = entry
  }

  /// The queries, most recent first.
  package func queries() -> [QueryTimes] {
    asksForExtents = true
    return entries.sorted { $0.value.last > $1.value.last }.map { query, entry in
      QueryTimes(
        query: query, classes: Self.classes(of: entry.runs), runs: entry.count, plan: entry.plan,
        scanned: entry.scanned, found: entry.found)
    }
  }

  private static func classes(of runs: [Run]) -> [QueryTimes.Class] {
    let bySize = Dictionary(grouping: runs) { $0.extent.map(limit(above:)) }
    return bySize.sorted { ($0.key ?? 0) < ($1.key ?? 0) }.map { limit, runs in
      let times = runs.map(\.time).sorted()
      return QueryTimes.Class(
        limit: limit, runs: times.count, median: times[(times.count - 1) / 2],
        p99: times[(times.count * 99 + 99) / 100 - 1])
    }
  }

  /// The lowest power of ten that is at least `extent`.
  private static func limit(above extent: Int) -> Int {
    var limit = 1
    while limit < extent, limit <= Int.max / 10 { limit *= 10 }
    return limit
  }
}
