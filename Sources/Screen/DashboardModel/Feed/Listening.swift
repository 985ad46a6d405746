// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The listeners in order, with information from their last snapshots. Also assigns unused tags.
package struct Listening: Sendable {
  /// The largest limit of a query for which a document's position in the result is reported.
  private static let largestPlace = 500

  package private(set) var records: [ListenerRecord] = []

  /// The document counts of the most recent snapshots, newest last.
  package private(set) var sizes: [Int] = []
  private static let keptSizes = 256

  /// The documents that the server sent for each listener in the last minute.
  package private(set) var reads = ReadRates()

  package init() {}
  /// The results of the listeners, stored in the order of their queries.
  private var kept: [ListenerTag: CachedResult] = [:]
  private var nextTag = 1

  package subscript(tag: ListenerTag) -> ListenerRecord? { index(of: tag).map { records[$0] } }

  private func index(of tag: ListenerTag) -> Int? { records.firstIndex { $0.tag == tag } }

  private mutating func takeTag() -> ListenerTag {
    defer { nextTag += 1 }
    return ListenerTag(nextTag)
  }

  // MARK: Beginning and end

  /// Adds a listener with a unique name. A duplicate name gets a number as suffix.
  package mutating func start(_ definition: ListenerDefinition) -> ListenerRecord {
    let record = ListenerRecord(
      tag: takeTag(), name: freeName(like: definition.name), query: definition.query, options: definition.options)
    records.append(record)
    return record
  }

  /// Adds a listener of another program with its tag. Does nothing if the tag already exists.
  package mutating func adopt(_ definition: ListenerDefinition, as tag: ListenerTag) {
    guard index(of: tag) == nil else { return }
    nextTag = max(nextTag, tag.rawValue + 1)
    records.append(
      ListenerRecord(
        tag: tag, name: freeName(like: definition.name), query: definition.query, options: definition.options))
  }

  package mutating func remove(_ tag: ListenerTag) -> ListenerRecord? {
    guard let index = index(of: tag) else { return nil }
    kept[tag] = nil
    return records.remove(at: index)
  }

  /// Removes failed listeners with the same query and options.
  package mutating func removeEnded(like definition: ListenerDefinition) {
    for record in records where record.failure != nil && record.definition == definition { _ = remove(record.tag) }
  }

  /// Replaces a listener with a new one, which gets a new tag. Updates for the old query that are still in flight are
  /// dropped.
  package mutating func replace(_ tag: ListenerTag, with definition: ListenerDefinition) -> ListenerTag? {
    guard let index = index(of: tag) else { return nil }
    let new = takeTag()
    kept[tag] = nil
    records[index] = ListenerRecord(
      tag: new, name: definition.name, query: definition.query, options: definition.options)
    return new
  }

  /// Adds listeners that already have tags.
  package mutating func adopt(_ listeners: [ListenerRecord]) {
    records = listeners
    kept = kept.filter { tag, _ in listeners.contains { $0.tag == tag } }
    for record in listeners where record.count != nil && kept[record.tag] == nil {
      kept[record.tag, default: CachedResult(record.query)].miss(count: record.count)
    }
    nextTag = max(nextTag, (listeners.map(\.tag.rawValue).max() ?? 0) + 1)
  }

  // MARK: Names

  /// - Returns: whether the listener had another name.
  package mutating func rename(_ tag: ListenerTag, to name: String) -> Bool {
    guard let index = index(of: tag), records[index].name != name else { return false }
    records[index].name = name
    return true
  }

  /// The given name, or the name with the smallest number that makes it unique.
  package func freeName(like name: String, besides tag: ListenerTag? = nil) -> String {
    var free = name
    var number = 1
    while isTaken(free, besides: tag) {
      number += 1
      free = "\(name) \(number)"
    }
    return free
  }

  package func isTaken(_ name: String, besides tag: ListenerTag? = nil) -> Bool {
    records.contains { $0.tag != tag && $0.name.equalsUTF8(name) }
  }

  // MARK: Events

  /// Updates a listener from a snapshot.
  /// - Parameter keepsResults: whether the snapshots so far have reported the whole result.
  /// - Returns: the updated listener.
  @discardableResult
  package mutating func note(_ snapshot: ListenerSnapshot, keepsResults: Bool) -> ListenerRecord? {
    guard let index = index(of: snapshot.listener) else { return nil }
    records[index].count = snapshot.count
    records[index].isFromCache = snapshot.isFromCache
    records[index].hasPendingWrites = snapshot.hasPendingWrites
    let size = snapshot.changes.count + (snapshot.omitted ?? 0)
    if size > 0 { sizes = (sizes + [size]).suffix(Self.keptSizes) }
    kept[snapshot.listener, default: CachedResult(records[index].query)].apply(snapshot, isTold: keepsResults)
    return records[index]
  }

  /// Records how many documents the server has sent.
  package mutating func note(_ meters: [ReadMeter], at now: Timestamp) { reads.note(meters, at: now) }

  /// Stores the size and state of a listener's result, as reported without a snapshot.
  package mutating func note(_ result: ListenerState.Result, of tag: ListenerTag) {
    guard let index = index(of: tag) else { return }
    records[index].count = result.count
    records[index].isFromCache = result.isFromCache
    records[index].hasPendingWrites = result.hasPendingWrites
    kept[tag, default: CachedResult(records[index].query)].miss(count: result.count)
  }

  package mutating func fail(_ tag: ListenerTag, _ status: RPCStatus) {
    guard let index = index(of: tag) else { return }
    records[index].failure = status
    kept[tag] = nil
  }

  /// The documents that the snapshots of a listener with a limit have reported; `nil` if they are not stored.
  package func results(of tag: ListenerTag) -> [DocumentKey: Document]? {
    guard let limit = self[tag]?.query.limit, limit <= Self.largestPlace, let result = kept[tag], result.isTold else {
      return nil
    }
    return Dictionary(result.documents.lazy.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
  }

  /// The result that a listener's snapshots have reported; `nil` before the first snapshot and after the listener has
  /// ended.
  package func result(of tag: ListenerTag) -> CachedResult? { kept[tag] }
}

/// The count of documents that the server sent for each target in the last minute, by second.
package struct ReadRates: Sendable {
  private static let span: Int64 = 60

  private struct Series {
    /// The count in the last status.
    var total: Int
    var parts: [(second: Int64, reads: Int)] = []
  }

  private var series: [Target: Series] = [:]
  /// Whether a status was already recorded. The first status only sets the initial values of the counters.
  private var hasBegun = false

  /// Records the read counts in a status. The first status contains earlier reads, so only later increases are
  /// recorded.
  package mutating func note(_ meters: [ReadMeter], at now: Timestamp) {
    var next: [Target: Series] = [:]
    for meter in meters {
      var series = series[meter.target] ?? Series(total: hasBegun ? 0 : meter.sent)
      let new = meter.sent - series.total
      // A restarted target counts from zero.
      if new != 0 { series.parts.append((now.seconds, new > 0 ? new : meter.sent)) }
      series.total = meter.sent
      series.parts.removeAll { $0.second <= now.seconds &- Self.span }
      next[meter.target] = series
    }
    series = next
    hasBegun = true
  }

  /// The count of reads of each target in the minute before a time.
  package func lastMinute(at now: Timestamp) -> [Target: Int] {
    series.mapValues { series in
      series.parts.reduce(0) { $0 + ($1.second > now.seconds &- Self.span ? $1.reads : 0) }
    }
  }
}
