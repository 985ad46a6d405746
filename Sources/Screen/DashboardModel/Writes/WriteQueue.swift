// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// The rows of pane 2: pending batches, recently acknowledged ones, and rejected ones.
package struct WriteQueue: Sendable {
  /// The time that an acknowledged row stays visible, in seconds.
  private static let lingering: Int64 = 3

  struct Finished: Sendable {
    package var row: QueueRow
    var at: Timestamp
  }

  /// The pending batches, or of a long queue its first and last ones.
  package private(set) var live: [QueueRow] = []
  /// The size of the pending batches that are not listed.
  private var hidden = QueueSize()
  /// The newest batch that touches each document.
  private var newest: [DocumentKey: BatchID] = [:]
  /// The batches that were acknowledged a moment ago.
  private(set) var finished: [Finished] = []
  /// The rejected batches, which the cache keeps until they are sent again or dropped.
  package private(set) var rejected: [QueueRow] = []
  package var marked: Set<BatchID> = []
  package var cursor = Cursor<BatchID>()
  /// The batch at which the selected range begins.
  package var anchor: BatchID?
  /// Rows that left the queue lately: the list without a batch may arrive before the news of its outcome.
  private var departed: [QueueRow] = []
  private static let departedLimit = 32
  private static let finishedLimit = 100
  /// The number of conflicts that are kept.
  private static let mostConflicts = 200
  /// Own writes that replaced what their author had not seen, newest last.
  package private(set) var conflicts: [WriteConflict] = []
  /// The durations from sending to acknowledgement of recent batches, for the feed.
  package private(set) var acknowledgements: [BatchID: Duration] = [:]

  /// The filter of the list.
  package var filter = RowFilter.none

  package init() {}

  /// The time that an empty list keeps its room, in seconds: writes seldom come alone.
  private static let roomLingering: Int64 = 10
  /// The time at which the room ends.
  private var roomEnd: Timestamp?

  private var isEmpty: Bool { live.isEmpty && finished.isEmpty && rejected.isEmpty }

  /// Whether there are rows to show, or were a moment ago.
  package var wantsRoom: Bool { !isEmpty || roomEnd != nil }

  /// The rows that pass the filter.
  package var rows: [QueueRow] {
    filter.isEmpty ? allRows : allRows.filter { filter.matches($0.searchText, in: $0.writtenDocuments) }
  }

  /// The pending and the acknowledged batches, in batch order; below them the rejected ones.
  package var allRows: [QueueRow] {
    let liveIDs = Set(live.map(\.batch))
    let done = finished.map(\.row).filter { !liveIDs.contains($0.batch) }
    return (done.isEmpty ? live : (live + done).sorted { $0.batch < $1.batch }) + rejected
  }

  package var selected: QueueRow? { cursor.id.flatMap { id in rows.first { $0.batch == id } } }

  /// The marked rows, else those of the selected range, else the selected one.
  package var chosen: [QueueRow] {
    let rows = rows
    if !marked.isEmpty { return rows.filter { marked.contains($0.batch) } }
    guard let selected else { return [] }
    guard let anchor, let first = rows.firstIndex(where: { $0.batch == anchor }),
      let last = rows.firstIndex(where: { $0.batch == selected.batch })
    else { return [selected] }
    return Array(rows[min(first, last)...max(first, last)])
  }

  package var hasChosenRejected: Bool { chosen.contains(where: \.isRejected) }

  /// The number of pending batches.
  package var waiting: Int { live.count + hidden.count }

  package var byteCount: Int { live.reduce(hidden.byteCount) { $0 + $1.write.byteCount } }

  /// The progress of a queue that takes a while: the number of batches answered since it was last empty, and of all.
  package var progress: (done: Int, total: Int)? {
    guard waiting > 0, hidden.total >= Self.longQueue, hidden.total > waiting else { return nil }
    return (hidden.total - waiting, hidden.total)
  }

  /// The number of batches from which progress is shown: some seconds' worth.
  private static let longQueue = 100

  package var oldest: Timestamp? { live.map(\.write.localWriteTime).min() }

  /// The newest pending batch that touches a document.
  package func batch(touching key: DocumentKey) -> BatchID? { newest[key] }

  /// The newest batch that wrote a document and is pending or left the queue lately without being rejected.
  func confirmedBatch(of key: DocumentKey) -> BatchID? {
    let gone = (departed + finished.map(\.row)).lazy.filter { $0.documents.contains(key) }.map(\.batch).max()
    return [newest[key], gone].compactMap(\.self).max()
  }

  /// The documents that a batch wrote which is pending or left the queue lately; `nil` if it is not known.
  package func documents(of batch: BatchID) -> [DocumentKey]? {
    (row(batch) ?? (finished.map(\.row) + rejected).first { $0.batch == batch })?.documents
  }

  package mutating func replace(with writes: [PendingWrite], of size: QueueSize? = nil) {
    let rows = writes.map { QueueRow($0) }
    hidden = QueueSize(
      count: max(0, (size?.count ?? 0) - rows.count), total: size?.total ?? 0,
      byteCount: max(0, (size?.byteCount ?? 0) - rows.reduce(0) { $0 + $1.write.byteCount }))
    let waiting = Set(rows.map(\.batch))
    departed = (departed + live.filter { !waiting.contains($0.batch) }).suffix(Self.departedLimit)
    live = rows
    noteNewest()
    unmarkGone()
  }

  package mutating func replaceRejected(with writes: [RejectedWrite]) {
    rejected = writes.map { QueueRow($0) }
    let ids = Set(writes.map(\.id))
    live.removeAll { ids.contains($0.batch) }
    noteNewest()
    departed.removeAll { ids.contains($0.batch) }
    unmarkGone()
  }

  private mutating func unmarkGone() { marked.formIntersection((live + rejected).map(\.batch)) }

  /// The row of a batch that is pending or has just left the queue.
  package func row(_ batch: BatchID) -> QueueRow? { (live + departed).first { $0.batch == batch } }

  package mutating func acknowledge(_ batch: BatchID, after time: Duration?, at now: Timestamp) {
    if acknowledgements.count > 256 { acknowledgements.removeAll() }
    acknowledgements[batch] = time
    guard var row = take(batch) else { return }
    row.outcome = .acknowledged(after: time)
    // The answer may overtake the news that the batch was sent.
    row.write.attempts = max(1, row.write.attempts)
    finished.removeAll { $0.row.batch == batch }
    finished.append(Finished(row: row, at: now))
    if finished.count > Self.finishedLimit { finished.removeFirst(finished.count - Self.finishedLimit) }
  }

  /// Moves a rejected batch below; the next `replaceRejected` tells its state in the cache.
  package mutating func reject(_ batch: BatchID, _ status: RPCStatus) {
    guard var row = take(batch) else { return }
    row.outcome = .rejected(status, at: nil)
    rejected.removeAll { $0.batch == batch }
    rejected.append(row)
  }

  package mutating func note(_ conflict: WriteConflict) {
    conflicts = (conflicts + [conflict]).suffix(Self.mostConflicts)
  }

  /// Removes a batch that was cancelled.
  package mutating func cancel(_ batch: BatchID) { _ = take(batch) }

  private mutating func take(_ batch: BatchID) -> QueueRow? {
    let row = row(batch)
    let waited = live.count
    live.removeAll { $0.batch == batch }
    if live.count < waited { noteNewest() }
    departed.removeAll { $0.batch == batch }
    return row
  }

  private mutating func noteNewest() {
    newest.removeAll(keepingCapacity: true)
    for row in live { for key in row.documents { newest[key] = row.batch } }
  }

  /// Moves the times at which rows disappear, after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    for index in finished.indices { finished[index].at = moved(finished[index].at) }
    roomEnd = roomEnd.map(moved)
  }

  /// Drops acknowledged rows whose time is over, and then the room of the list.
  package mutating func age(to now: Timestamp) {
    if !isEmpty { roomEnd = Timestamp(seconds: now.seconds &+ Self.roomLingering) }
    finished.removeAll { Self.expiry(of: $0) <= now }
    if let end = roomEnd, isEmpty, end <= now { roomEnd = nil }
  }

  /// The time at which the next acknowledged row disappears, or the room of the list.
  package var nextExpiry: Timestamp? { isEmpty ? roomEnd : finished.map(Self.expiry).min() }

  private static func expiry(of finished: Finished) -> Timestamp { finished.at.advanced(seconds: lingering) }
}
