// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

/// The numbers of documents that watched queries matched at some version. A listener that comes back is compared with
/// the number of today, which is that of then and the changes since: it costs what has changed, not a scan.
final class KnownCounts {
  private struct Query: Hashable {
    let database: Int64
    let target: Target
  }

  private struct Count {
    var number: Int
    var version: Int64
  }

  /// The number of remembered counts beyond which all are forgotten.
  private static let most = 1_024

  private var counts: [Query: Count] = [:]

  /// Notes the number of a query's documents at the reader's version.
  func note(_ number: Int, of target: Target, _ reader: DocumentReader) {
    guard reader.past == nil else { return }
    let query = Query(database: reader.state.id, target: target)
    if counts.count >= Self.most, counts[query] == nil { counts = [:] }
    counts[query] = Count(number: number, version: reader.state.version)
  }

  /// The number of a query's documents at the reader's version, by the changes since it was noted.
  /// - Parameter historyStart: the version before which the history is not known.
  /// - Returns: `nil` if it was not noted, or there are more changes than one step reads.
  func number(of target: Target, _ reader: DocumentReader, historyStart: Int64) throws(StoreError) -> Int? {
    guard reader.past == nil, let known = counts[Query(database: reader.state.id, target: target)] else { return nil }
    if known.version == reader.state.version { return known.number }
    var missed = MissedChanges(since: known.version)
    guard known.version >= historyStart, !missed.isCut(reader.state) else { return nil }
    _ = try missed.next(of: target, upTo: .max, historyStart: historyStart, reader)
    return missed.isDone && !missed.isVague ? known.number + missed.growth : nil
  }
}

extension DocumentReader {
  /// The number of documents that a target without a limit has.
  /// - Parameter historyStart: the version before which the history is not known.
  func count(of target: Target, historyStart: Int64) throws(StoreError) -> Int {
    let known = try counts?.number(of: target, self, historyStart: historyStart)
    let number: Int
    if let known { number = known } else { number = try countMatches(of: ServedQuery(target)) }
    counts?.note(number, of: target, self)
    return number
  }
}
