// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel

/// The rows of pane 2: pending batches, recently acknowledged batches, and rejected batches.
package struct WriteQueue: Sendable {
  /// The time in seconds for which the row of an acknowledged batch remains visible.
  private static let lingering: Int64 = 3

  struct Finished: Sendable {
    package var row: QueueRow
    var at: Timestamp
  }

  /// The pending batches. If the queue is long, these are only its first and last batches.
  package private(set) var live: [QueueRow] = []
  /// The size of the pending batches that are not in `live`.
  private var hidden = QueueSize()
  /// The newest pending batch that writes each document.
  private var newest: [DocumentKey: BatchID] = [:]
  /// The batches that were acknowledged in the last seconds.
  private(set) var finished: [Finished] = []
  /// The rejected batches. The cache stores them until you resend them or drop them.
  package private(set) var rejected: [QueueRow] = []
  package var marked: Set<BatchID> = []
  package var cursor = Cursor<BatchID>()
  /// The batch where the selected range starts.
  package var anchor: BatchID?
  /// Rows that recently left the queue. They are needed because the client can report the shorter queue before a
  /// batch's outcome.
  private var departed: [QueueRow] = []
  private static let departedLimit = 32
  private static let finishedLimit = 100
  private static let mostAnswers = 256
  /// The maximum count of stored conflicts.
  private static let mostConflicts = 200
  /// This client's writes that replaced values which their author had not seen, newest last.
  package private(set) var conflicts: [WriteConflict] = []
  /// The recent acknowledgements, for the feed's rows.
  package private(set) var answers: [BatchID: WriteAnswer] = [:]
  /// The last batch that wrote each document, if it is acknowledged.
  private var acknowledged: [DocumentKey: BatchID] = [:]

  /// The histories of recent writes.
  private var journeys: [BatchID: WriteJourney] = [:]
  /// The data of a write with at least this size in bytes is dropped when the write leaves the queue.
  private static let largestKept = 64 << 10

  /// The filter of the list.
  package var filter = RowFilter.none

  package init() {}

  /// The time in seconds for which the pane of an empty list keeps its size, because another write often follows.
  private static let roomLingering: Int64 = 10
  /// The time when the pane of an empty list is made smaller.
  private var roomEnd: Timestamp?

  private var isEmpty: Bool { live.isEmpty && finished.isEmpty && rejected.isEmpty }

  /// Whether the pane needs space, because there are rows or there were rows some seconds ago.
  package var wantsRoom: Bool { !isEmpty || roomEnd != nil }

  /// The rows that match the filter.
  package var rows: [QueueRow] {
    filter.isEmpty ? allRows : allRows.filter { filter.matches($0.searchText, in: $0.writtenDocuments) }
  }

  /// The pending and the acknowledged batches in batch order, followed by the rejected batches.
  package var allRows: [QueueRow] {
    let liveIDs = Set(live.map(\.batch))
    let done = finished.map(\.row).filter { !liveIDs.contains($0.batch) }
    return (done.isEmpty ? live : (live + done).sorted { $0.batch < $1.batch }) + rejected
  }

  package var selected: QueueRow? { cursor.id.flatMap { id in rows.first { $0.batch == id } } }

  /// The rows that commands act on: the marked rows, otherwise the selected range, otherwise the selected row.
  package var chosen: [QueueRow] {
    let rows = rows
    if !marked.isEmpty { return rows.filter { marked.contains($0.batch) } }
    guard let selected else { return [] }
    guard let anchor, let first = rows.firstIndex(where: { $0.batch == anchor }),
      let last = rows.firstIndex(where: { $0.batch == selected.batch })
    else { return [selected] }
    return Array(rows[min(first, last)...max(first, last)])
  }

  /// The count of batches that the backend rejected.
  package var refusedCount: Int { rejected.count - setAsideCount }
  package var setAsideCount: Int { rejected.count(where: \.isSetAside) }

  package var hasChosenRejected: Bool { chosen.contains(where: \.isRejected) }

  /// The count of pending batches.
  package var waiting: Int { live.count + hidden.count }

  package var byteCount: Int { live.reduce(hidden.byteCount) { $0 + $1.write.byteCount } }

  /// The progress of a long queue. `done` counts the batches that left the queue since it was last empty.
  package var progress: (done: Int, total: Int)? {
    guard waiting > 0, hidden.total >= Self.longQueue, hidden.total > waiting else { return nil }
    return (hidden.total - waiting, hidden.total)
  }

  /// The minimum length of a queue whose progress is shown. Such a queue takes some seconds.
  private static let longQueue = 100

  package var oldest: Timestamp? { live.map(\.write.localWriteTime).min() }

  /// The newest pending batch that writes a document.
  package func batch(touching key: DocumentKey) -> BatchID? { newest[key] }

  /// The last batch that wrote a document, if the backend has acknowledged this batch.
  func acknowledgedBatch(of key: DocumentKey) -> BatchID? { newest[key] == nil ? acknowledged[key] : nil }

  /// The documents of a batch that is pending or has recently left the queue; `nil` if unknown.
  package func documents(of batch: BatchID) -> [DocumentKey]? {
    (row(batch) ?? (finished.map(\.row) + rejected).first { $0.batch == batch })?.documents
  }

  /// The fields of a document that the server computes when it applies a batch.
  func transforms(of batch: BatchID, to key: DocumentKey) -> Set<FieldPath>? {
    let known = row(batch) ?? finished.map(\.row).first { $0.batch == batch }
    return known.map { Set($0.write.mutations.filter { $0.key == key }.flatMap(\.transforms).map(\.path)) }
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
    for key in newest.keys { acknowledged[key] = nil }
    unmarkGone()
  }

  /// Adds the current state of each pending batch to its history.
  package mutating func noteProgress(at now: Timestamp) {
    for row in live { journeys[row.batch, default: WriteJourney(row)].note(row, at: now) }
    guard journeys.count > Self.mostAnswers + live.count else { return }
    let oldest = journeys.keys.filter { journeys[$0]?.end != nil }.sorted().prefix(Self.mostAnswers / 2)
    for batch in oldest { journeys[batch] = nil }
  }

  /// The observed history of a write.
  package func journey(of batch: BatchID) -> WriteJourney? { journeys[batch] }

  /// Completes the history of a write. Drops the history if the write is large.
  private mutating func endJourney(_ batch: BatchID, _ row: QueueRow?, _ end: (inout WriteJourney) -> Void) {
    guard var journey = journeys[batch] ?? row.map({ WriteJourney($0) }) else { return }
    end(&journey)
    journeys[batch] = journey.row.write.byteCount > Self.largestKept ? nil : journey
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

  /// The row of a batch that is pending or has recently left the queue.
  package func row(_ batch: BatchID) -> QueueRow? { (live + departed).first { $0.batch == batch } }

  /// - Parameter told: the documents of the batch, because the client may never have listed the batch.
  package mutating func acknowledge(
    _ batch: BatchID, after time: Duration?, at now: Timestamp, of told: WrittenDocuments? = nil
  ) {
    if answers.count > Self.mostAnswers { answers.removeAll() }
    if acknowledged.count > Self.mostAnswers { acknowledged.removeAll() }
    let known = row(batch)
    endJourney(batch, known) { $0.acknowledge(at: now, after: time) }
    answers[batch] = WriteAnswer(
      batch, after: time, age: known.map { .milliseconds(now.milliseconds(since: $0.write.localWriteTime)) },
      tries: known?.tries ?? 1)
    guard var row = take(batch) else {
      for document in told?.first ?? [] where newest[document.key] == nil { acknowledged[document.key] = batch }
      return
    }
    for key in row.documents where newest[key] == nil { acknowledged[key] = batch }
    row.outcome = .acknowledged(after: time)
    // The answer can overtake the report that the batch was sent.
    row.write.attempts = max(1, row.write.attempts)
    finished.removeAll { $0.row.batch == batch }
    finished.append(Finished(row: row, at: now))
    if finished.count > Self.finishedLimit { finished.removeFirst(finished.count - Self.finishedLimit) }
  }

  /// Moves a batch to the rejected batches. The next call of `replaceRejected` provides the batch's state in the cache.
  package mutating func reject(_ batch: BatchID, _ status: RPCStatus, at now: Timestamp) {
    endJourney(batch, row(batch)) { $0.reject(status, at: now) }
    guard var row = take(batch) else { return }
    row.outcome = .rejected(status, at: nil)
    rejected.removeAll { $0.batch == batch }
    rejected.append(row)
  }

  package mutating func note(_ conflict: WriteConflict) {
    conflicts = (conflicts + [conflict]).suffix(Self.mostConflicts)
  }

  /// Removes a canceled batch.
  package mutating func cancel(_ batch: BatchID, at now: Timestamp) {
    endJourney(batch, row(batch)) { $0.cancel(at: now) }
    _ = take(batch)
  }

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

  /// Shifts the expiry times of rows after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    for index in finished.indices { finished[index].at = moved(finished[index].at) }
    roomEnd = roomEnd.map(moved)
  }

  /// Removes acknowledged rows whose display time is over, and later the space of the empty list.
  package mutating func age(to now: Timestamp) {
    if !isEmpty { roomEnd = Timestamp(seconds: now.seconds &+ Self.roomLingering) }
    finished.removeAll { Self.expiry(of: $0) <= now }
    if let end = roomEnd, isEmpty, end <= now { roomEnd = nil }
  }

  /// The time when the next acknowledged row disappears, or when the pane of the empty list is made smaller.
  package var nextExpiry: Timestamp? { isEmpty ? roomEnd : finished.map(Self.expiry).min() }

  private static func expiry(of finished: Finished) -> Timestamp { finished.at.advanced(seconds: lingering) }
}

/// A batch in pane 2: a pending batch, or a finished batch with its outcome.
package struct QueueRow: Equatable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// An acknowledged batch; `after` is `nil` if the sending time is unknown.
    case acknowledged(after: Duration?)
    /// A rejected batch; `at` is `nil` until the cache reports the time.
    case rejected(RPCStatus, at: Timestamp?)
  }

  package enum Operation: String, Hashable, Sendable { case set, update, delete, increment, verify, batch }

  package var write: PendingWrite
  /// The outcome; `nil` while the batch is pending.
  package var outcome: Outcome?

  package init(_ write: PendingWrite) { self.write = write }

  package init(_ rejected: RejectedWrite) {
    write = PendingWrite(
      id: rejected.id, mutations: rejected.mutations, localWriteTime: rejected.localWriteTime,
      byteCount: rejected.byteCount, attempts: rejected.rejection.attempts, state: .queued)
    outcome = .rejected(rejected.rejection.status, at: rejected.rejection.time)
  }

  package var batch: BatchID { write.id }
  package var documents: [DocumentKey] { write.mutations.map(\.key) }
  package var transformCount: Int { write.mutations.reduce(0) { $0 + $1.transforms.count } }

  /// The operation of the batch. If the batch has several mutations, this is `batch`.
  package var operation: Operation {
    guard write.mutations.count == 1, let mutation = write.mutations.first else { return .batch }
    switch mutation.operation {
    case .set: return .set
    case .delete: return .delete
    case .verify: return .verify
    case .patch(let fields, _): return fields.isEmpty && isNonIdempotent ? .increment : .update
    }
  }

  /// Whether sending the batch twice changes the result, for example because of an increment. Such a batch is applied
  /// twice if its acknowledgement is lost and it is sent again.
  package var isNonIdempotent: Bool {
    write.mutations.contains { mutation in
      mutation.transforms.contains { if case .increment = $0.operation { true } else { false } }
    }
  }

  /// The count of attempts to send the batch, including failed connection attempts.
  package var tries: Int {
    if outcome == nil, case .backoff = write.state { return max(1, write.attempts) }
    return write.attempts
  }

  package var isHeld: Bool { outcome == nil && write.state == .held }
  package var isFinished: Bool { outcome != nil }
  package var isRejected: Bool { if case .rejected = outcome { true } else { false } }
  /// Whether you set the batch aside. It remains among the rejected batches until you resend it or drop it.
  package var isSetAside: Bool {
    if case .rejected(let status, _) = outcome { status.code == .cancelled } else { false }
  }
  package var rejectedAt: Timestamp? { if case .rejected(_, let time) = outcome { time } else { nil } }

  /// The backend's error for the batch, or the reason why the backend cannot be reached.
  package var error: RPCStatus? {
    switch outcome {
    case .rejected(let status, _): status
    case .acknowledged: nil
    case nil: write.lastError
    }
  }

  /// The text that a filter searches.
  package var searchText: String {
    let paths = documents.map(\.path.text).joined(separator: " ")
    return "\(batch) \(operation.rawValue) \(paths) \(stateWord) \(error?.description ?? "")"
  }

  /// The values that the batch writes. Field conditions of filters are evaluated on them.
  var writtenDocuments: [Document] {
    write.mutations.compactMap { mutation in
      switch mutation.operation {
      case .set(let fields), .patch(let fields, _):
        Document(key: mutation.key, version: nil, state: .found(DocumentData(fields)))
      case .delete, .verify: nil
      }
    }
  }

  private var stateWord: String {
    switch (outcome, write.state) {
    case (.acknowledged, _): "acknowledged"
    case (.rejected, _): isSetAside ? "set aside" : "rejected"
    case (nil, .held), (nil, .queued): "pending"
    case (nil, .inFlight): "in flight"
    case (nil, .backoff): "backoff retry"
    }
  }
}
