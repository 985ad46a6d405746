// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The rows of pane 2: what waits, what was acknowledged a moment ago, and what was refused.
package struct WriteQueue: Sendable {
  /// Refused writes stay until dismissed; beyond this many the oldest go.
  private static let rejectedLimit = 100
  /// How long an acknowledged row stays to be seen, in seconds.
  private static let lingering: Int64 = 3

  struct Finished: Sendable {
    var row: QueueRow
    var at: Timestamp
  }

  package private(set) var live: [QueueRow] = []
  private(set) var finished: [Finished] = []
  package internal(set) var marked: Set<BatchID> = []
  package internal(set) var cursor = Cursor<BatchID>()
  /// Rows that left the queue lately: the list without a batch may arrive before the news of what became of it.
  private var departed: [QueueRow] = []
  private static let departedLimit = 32
  /// Send to acknowledgement of recent batches, for the feed.
  private(set) var acknowledgements: [BatchID: Duration] = [:]

  /// All rows in batch order.
  package var rows: [QueueRow] {
    let liveIDs = Set(live.map(\.batch))
    let done = finished.map(\.row).filter { !liveIDs.contains($0.batch) }
    return done.isEmpty ? live : (live + done).sorted { $0.batch < $1.batch }
  }

  package var selected: QueueRow? { cursor.id.flatMap { id in rows.first { $0.batch == id } } }

  var oldest: Timestamp? { live.map(\.writtenAt).min() }

  /// The newest waiting batch that touches a document.
  func batch(touching key: DocumentKey) -> BatchID? { live.last { $0.documents.contains(key) }?.batch }

  /// The newest batch that wrote a document, of those that wait or left the queue lately without being refused.
  func confirmedBatch(of key: DocumentKey) -> BatchID? {
    (live + departed + finished.map(\.row)).filter { row in
      if case .rejected = row.state { return false }
      return row.documents.contains(key)
    }.map(\.batch).max()
  }

  mutating func replace(with rows: [QueueRow]) {
    let waiting = Set(rows.map(\.batch))
    departed = (departed + live.filter { !waiting.contains($0.batch) }).suffix(Self.departedLimit)
    live = rows
    marked.formIntersection(rows.map(\.batch))
  }

  /// A batch that waits or has just left the queue.
  func row(_ batch: BatchID) -> QueueRow? { (live + departed).first { $0.batch == batch } }

  mutating func acknowledge(_ batch: BatchID, after time: Duration, at now: Timestamp) {
    if acknowledgements.count > 256 { acknowledgements.removeAll() }
    acknowledgements[batch] = time
    finish(batch, as: .acknowledged(after: time), at: now)
  }

  mutating func reject(_ batch: BatchID, _ status: RPCStatus, at now: Timestamp) {
    finish(batch, as: .rejected(status), at: now)
  }

  private mutating func finish(_ batch: BatchID, as state: QueueRow.State, at now: Timestamp) {
    guard var row = row(batch) else { return }
    live.removeAll { $0.batch == batch }
    departed.removeAll { $0.batch == batch }
    row.state = state
    // The answer may overtake the news that the batch was sent.
    if case .acknowledged = state { row.tries = max(1, row.tries) }
    finished.removeAll { $0.row.batch == batch }
    finished.append(Finished(row: row, at: now))
    if finished.count > Self.rejectedLimit { finished.removeFirst(finished.count - Self.rejectedLimit) }
  }

  /// Takes a refused write off the list.
  mutating func dismiss(_ batch: BatchID) { finished.removeAll { $0.row.batch == batch } }

  /// Drops acknowledged rows that were shown long enough.
  mutating func age(to now: Timestamp) { finished.removeAll { Self.expiry(of: $0).map { $0 <= now } ?? false } }

  /// When the next acknowledged row disappears.
  var nextExpiry: Timestamp? { finished.compactMap(Self.expiry).min() }

  private static func expiry(of finished: Finished) -> Timestamp? {
    if case .acknowledged = finished.row.state { finished.at.advanced(seconds: lingering) } else { nil }
  }
}
