// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreModel

/// The rows of pane 2: what waits, what was acknowledged a moment ago, and what was refused.
package struct WriteQueue: Sendable {
  /// How long an acknowledged row stays to be seen, in seconds.
  private static let lingering: Int64 = 3

  struct Finished: Sendable {
    var row: QueueRow
    var at: Timestamp
  }

  /// What waits, or its first and its last rows.
  package private(set) var live: [QueueRow] = []
  /// What waits between them.
  private var hidden = QueueSize()
  /// The newest of the rows that touches a document.
  private var newest: [DocumentKey: BatchID] = [:]
  /// Acknowledged a moment ago.
  private(set) var finished: [Finished] = []
  /// Refused, and kept by the cache until they are sent again or dropped.
  package private(set) var rejected: [QueueRow] = []
  package internal(set) var marked: Set<BatchID> = []
  package internal(set) var cursor = Cursor<BatchID>()
  /// Where the selected range begins.
  var anchor: BatchID?
  /// Rows that left the queue lately: the list without a batch may arrive before the news of what became of it.
  private var departed: [QueueRow] = []
  private static let departedLimit = 32
  private static let finishedLimit = 100
  /// So many conflicts are kept.
  private static let mostConflicts = 200
  /// Own writes that replaced what their author had not seen, newest last.
  package private(set) var conflicts: [WriteConflict] = []
  /// Send to acknowledgement of recent batches, for the feed.
  private(set) var acknowledgements: [BatchID: Duration] = [:]

  /// What the list shows of all rows.
  var filter = RowFilter.none

  /// How long an empty list keeps its room, in seconds: writes seldom come alone.
  private static let roomLingering: Int64 = 10
  /// Until when it does.
  private var roomEnd: Timestamp?

  private var isEmpty: Bool { live.isEmpty && finished.isEmpty && rejected.isEmpty }

  /// Whether there is something to show, or was a moment ago.
  var wantsRoom: Bool { !isEmpty || roomEnd != nil }

  /// The rows that pass the filter.
  package var rows: [QueueRow] {
    filter.isEmpty ? allRows : allRows.filter { filter.matches($0.searchText, in: $0.writtenDocuments) }
  }

  /// What waits and what was acknowledged, in batch order; below it what was refused.
  var allRows: [QueueRow] {
    let liveIDs = Set(live.map(\.batch))
    let done = finished.map(\.row).filter { !liveIDs.contains($0.batch) }
    return (done.isEmpty ? live : (live + done).sorted { $0.batch < $1.batch }) + rejected
  }

  package var selected: QueueRow? { cursor.id.flatMap { id in rows.first { $0.batch == id } } }

  /// The marked rows, or else those of the selected range, or else the selected one.
  var chosen: [QueueRow] {
    let rows = rows
    if !marked.isEmpty { return rows.filter { marked.contains($0.batch) } }
    guard let selected else { return [] }
    guard let anchor, let first = rows.firstIndex(where: { $0.batch == anchor }),
      let last = rows.firstIndex(where: { $0.batch == selected.batch })
    else { return [selected] }
    return Array(rows[min(first, last)...max(first, last)])
  }

  var hasChosenRejected: Bool { chosen.contains(where: \.isRejected) }

  /// How many batches wait.
  package var waiting: Int { live.count + hidden.count }

  var byteCount: Int { live.reduce(hidden.byteCount) { $0 + $1.write.byteCount } }

  /// Of a queue that takes a while: how many of how many batches have been answered since it was last empty.
  var progress: (done: Int, total: Int)? {
    guard waiting > 0, hidden.total >= Self.longQueue, hidden.total > waiting else { return nil }
    return (hidden.total - waiting, hidden.total)
  }

  /// Some seconds' worth.
  private static let longQueue = 100

  var oldest: Timestamp? { live.map(\.write.localWriteTime).min() }

  /// The newest waiting batch that touches a document.
  func batch(touching key: DocumentKey) -> BatchID? { newest[key] }

  /// The newest batch that wrote a document, of those that wait or left the queue lately without being refused.
  func confirmedBatch(of key: DocumentKey) -> BatchID? {
    let gone = (departed + finished.map(\.row)).lazy.filter { $0.documents.contains(key) }.map(\.batch).max()
    return [newest[key], gone].compactMap(\.self).max()
  }

  /// What a batch wrote that waits or left the queue lately; `nil` if it is not known.
  func documents(of batch: BatchID) -> [DocumentKey]? {
    (row(batch) ?? (finished.map(\.row) + rejected).first { $0.batch == batch })?.documents
  }

  mutating func replace(with writes: [PendingWrite], of size: QueueSize? = nil) {
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

  mutating func replaceRejected(with writes: [RejectedWrite]) {
    rejected = writes.map { QueueRow($0) }
    let ids = Set(writes.map(\.id))
    live.removeAll { ids.contains($0.batch) }
    noteNewest()
    departed.removeAll { ids.contains($0.batch) }
    unmarkGone()
  }

  private mutating func unmarkGone() { marked.formIntersection((live + rejected).map(\.batch)) }

  /// A batch that waits or has just left the queue.
  func row(_ batch: BatchID) -> QueueRow? { (live + departed).first { $0.batch == batch } }

  mutating func acknowledge(_ batch: BatchID, after time: Duration?, at now: Timestamp) {
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

  /// Moves a refused batch below; the next `replaceRejected` says how the cache keeps it.
  mutating func reject(_ batch: BatchID, _ status: RPCStatus) {
    guard var row = take(batch) else { return }
    row.outcome = .rejected(status, at: nil)
    rejected.removeAll { $0.batch == batch }
    rejected.append(row)
  }

  mutating func note(_ conflict: WriteConflict) { conflicts = (conflicts + [conflict]).suffix(Self.mostConflicts) }

  /// Takes a batch out that was taken back.
  mutating func cancel(_ batch: BatchID) { _ = take(batch) }

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

  /// Puts the moments at which rows disappear elsewhere.
  mutating func move(_ moved: (Timestamp) -> Timestamp) {
    for index in finished.indices { finished[index].at = moved(finished[index].at) }
    roomEnd = roomEnd.map(moved)
  }

  /// Drops acknowledged rows that were shown long enough, and then the room of the list.
  mutating func age(to now: Timestamp) {
    if !isEmpty { roomEnd = Timestamp(seconds: now.seconds &+ Self.roomLingering) }
    finished.removeAll { Self.expiry(of: $0) <= now }
    if let end = roomEnd, isEmpty, end <= now { roomEnd = nil }
  }

  /// When the next acknowledged row disappears, or the room of the list.
  var nextExpiry: Timestamp? { isEmpty ? roomEnd : finished.map(Self.expiry).min() }

  private static func expiry(of finished: Finished) -> Timestamp { finished.at.advanced(seconds: lingering) }
}
