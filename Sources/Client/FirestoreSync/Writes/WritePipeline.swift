// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol

/// The current user's writes: the queue, the stream that sends the writes, and their answers.
///
///     closed ──start──► starting ──opened──► open ──take, answered──┐
///       ▲                  │                  │ ▲                   │      failed, stop: batches in flight
///       └── stop, failed ──┴──────────────────┘ └───────────────────┘      return to the queue
///
/// Callers must perform the effects that transitions return.
struct WritePipeline: Sendable {
  private(set) var user: String?
  private(set) var queue = PendingWrites()
  private(set) var stream = ClientStream()
  var answers = WriteAnswers()
  var deadlines = WriteDeadlines()

  // MARK: The user

  /// Sets the queue to a user's pending batches.
  mutating func begin(_ user: String?, with batches: [MutationBatch]) {
    self.user = user
    queue = PendingWrites(batches)
  }

  /// Replaces the queue with another user's queue.
  /// - Returns: the waits for the previous user's writes, which end with the change of user.
  mutating func changeUser(to user: String?, with batches: [MutationBatch]) -> [PendingWritesWait] {
    begin(user, with: batches)
    answers.rejectedWritesChanged()
    return answers.takeWaits()
  }

  // MARK: The queue

  mutating func append(_ batch: MutationBatch) { queue.append(batch) }

  /// Appends the batches that are not in the queue yet. Other clients of the cache have stored them.
  mutating func appendNew(_ batches: [MutationBatch]) {
    for batch in batches where queue.isNew(batch.id) { queue.append(batch) }
  }

  /// Removes an answered or canceled batch from the queue.
  /// - Parameters:
  ///   - time: the time at which this client received the backend's answer; `nil` if it received none.
  ///   - isShared: whether another client of the cache may have sent the batch.
  /// - Returns: the waits that have finished; `nil` if the batch belongs to another client and was already processed.
  mutating func finish(
    _ id: BatchID, _ result: Result<CommitResponse, RPCStatus>, at time: Timestamp?, isShared: Bool
  ) -> [PendingWritesWait]? {
    answers.cancellationEnded(of: id)
    let entry = queue.remove(id)
    if entry == nil, isShared { return nil }
    let delay = time.flatMap { time in entry?.sentAt.map { time - $0 } }
    let documents = entry.map { WrittenDocuments(of: $0.batch.mutations) }
    return answers.add(result, of: id, documents, after: delay, stillPending: queue.first)
  }

  /// The pending batches with their sizes; see `PendingWrites.measured`.
  mutating func measured(ends: Int?) -> [PendingWrites.Entry] { queue.measured(ends: ends) }

  /// The total size of all pending batches.
  mutating func size() -> QueueSize {
    QueueSize(count: queue.count, total: queue.total, byteCount: queue.byteCount())
  }

  /// Starts a wait for all writes that are pending at the time of the call.
  /// - Returns: whether there are pending writes.
  mutating func add(_ wait: PendingWritesWait) -> Bool {
    guard let last = queue.last else { return false }
    answers.add(wait, until: last)
    return true
  }

  // MARK: The stream

  /// Whether a stream must be opened, because writes are pending and there is no stream.
  var isDue: Bool { !stream.isStarted && !queue.isEmpty }
  /// Whether the stream is open although no write is pending.
  var isIdle: Bool { stream.isOpen && queue.isEmpty }

  mutating func start(using generator: inout some RandomNumberGenerator) -> SyncEffect {
    let delay = stream.start(using: &generator)
    return .open(.write, stream.epoch, after: delay)
  }

  /// The effects that an open stream needs: to send the next batches, or to close the stream after an idle time.
  var prompt: [SyncEffect] {
    guard stream.isOpen else { return [] }
    if queue.hasUnsent { return [.cancel(.writeIdle), .wake(.write)] }
    return queue.isEmpty ? [.schedule(.writeIdle, after: ClientStream.idleTimeout)] : []
  }

  /// Records that the backend answered the handshake.
  /// - Returns: whether the epoch is the current one (S8).
  mutating func opened(token: [UInt8], in epoch: StreamEpoch) -> Bool {
    guard stream.opened(epoch) else { return false }
    queue.streamOpened(token: token)
    return true
  }

  /// Returns the next batch for the stream, and marks it as in flight.
  mutating func take(
    in epoch: StreamEpoch, at now: Timestamp
  ) -> (batch: MutationBatch, request: WriteRequest)? {
    guard isOpen(in: epoch) else { return nil }
    return queue.take(at: now)
  }

  func isOpen(in epoch: StreamEpoch) -> Bool { epoch == stream.epoch && stream.isOpen }

  /// Records an answer for the oldest batch in flight (S4).
  /// - Returns: the batch. If the answer matches no batch, returns `nil` and changes nothing.
  mutating func answered(_ response: CommitResponse, token: [UInt8]) -> MutationBatch? {
    guard let batch = queue.oldestInFlight, batch.mutations.count == response.results.count else { return nil }
    stream.succeeded()
    queue.answered(token: token)
    return batch
  }

  /// The consequences when the backend or the transport ends a stream.
  struct End {
    let wasOpen: Bool
    /// The batch that the error rejects; `nil` if it rejects none. All other batches are sent again.
    let refused: MutationBatch?
  }

  /// Records that the backend or the transport ended the stream. A permanent error after the handshake rejects the
  /// oldest batch in flight (PROTOCOL §3.1).
  /// - Returns: `nil` if the epoch is not the current one (S8).
  mutating func failed(_ status: RPCStatus, in epoch: StreamEpoch) -> End? {
    guard epoch == stream.epoch, stream.isStarted else { return nil }
    let end = End(wasOpen: stream.isOpen, refused: status.code.isPermanentForWrites ? queue.oldestInFlight : nil)
    stream.failed(status)
    if end.refused != nil { stream.forgiveFailure() }
    queue.streamClosed()
    queue.note(status, of: end.refused?.id)
    return end
  }

  /// Closes the stream. The next start has no delay.
  mutating func stop() -> [SyncEffect] {
    let epoch = stream.isStarted ? stream.epoch : nil
    stream.stop()
    queue.streamClosed()
    return epoch.map { [.close(.write, $0)] } ?? []
  }

  /// Abandons a stream that is not open yet, so that its next start has no delay.
  mutating func skipBackoff() -> [SyncEffect] { stream.skipBackoff().map { [.close(.write, $0)] } ?? [] }
}

/// The answers to the current user's writes: the waits for answers, the last answers, and the rejected writes.
struct WriteAnswers: Sendable {
  private var waits = WriteWaits()
  /// Writes whose cancellation this client has requested from the client that runs the streams.
  private var cancellations: Set<BatchID> = []
  private(set) var history = WriteHistory()
  /// The user's rejected writes, as stored. `nil` before they are first read, and after each rejection until they are
  /// read again.
  private(set) var rejected: [RejectedWrite]?

  /// Records the result of a batch that has left the queue.
  /// - Parameters:
  ///   - documents: the documents of the batch, if known.
  ///   - delay: the time from sending the batch to the backend's answer.
  ///   - first: the first batch that is still pending; `nil` if no batch is pending.
  /// - Returns: the waits that have finished.
  mutating func add(
    _ result: Result<CommitResponse, RPCStatus>, of id: BatchID, _ documents: WrittenDocuments?, after delay: Duration?,
    stillPending first: BatchID?
  ) -> [PendingWritesWait] {
    history.add(id, result, of: documents, after: delay)
    return waits.takeDone(before: first)
  }

  // MARK: Waits

  mutating func add(_ wait: PendingWritesWait, until last: BatchID) { waits.add(wait, until: last) }

  /// Removes and returns all waits, because their writes will not be answered.
  mutating func takeWaits() -> [PendingWritesWait] { waits.takeAll() }

  // MARK: Cancellations

  /// The writes whose cancellation was requested from the client that runs the streams and has not been answered yet.
  var awaitedCancellations: [BatchID] { cancellations.sorted() }

  /// Records that this client has requested the cancellation of a write from the client that runs the streams.
  mutating func cancellationAsked(of id: BatchID) { cancellations.insert(id) }

  /// Records that the write was answered, or that its cancellation was refused.
  /// - Returns: whether this client had requested the cancellation.
  @discardableResult
  mutating func cancellationEnded(of id: BatchID) -> Bool { cancellations.remove(id) != nil }

  // MARK: Rejected writes

  /// Records the rejected writes that were read from the store.
  mutating func rejectedWritesRead(_ writes: [RejectedWrite]) { rejected = writes }

  /// Records that the stored rejected writes have changed. The next caller must read them again.
  mutating func rejectedWritesChanged() { rejected = nil }

  /// Records that a rejected write is no longer stored.
  mutating func rejectedWriteLeft(_ id: BatchID) { rejected?.removeAll { $0.id == id } }
}

/// The results of the last batches, and the backend's response times.
struct WriteHistory: Sendable {
  private static let capacity = 64

  /// The results, newest last.
  private(set) var outcomes: [WriteOutcome] = []
  /// The times from sending a write to its acknowledgement, newest last.
  private(set) var roundTrips: [Duration] = []
  private var sequence = 0

  /// - Parameters:
  ///   - documents: the documents of the batch, if known.
  ///   - after: the time from sending the batch to the backend's answer.
  mutating func add(
    _ batch: BatchID, _ result: Result<CommitResponse, RPCStatus>, of documents: WrittenDocuments?, after: Duration?
  ) {
    sequence += 1
    var outcome = WriteOutcome(
      sequence: sequence, batch: batch, after: after, rejection: nil, documents: documents)
    switch result {
    case .success(let response):
      outcome.commitTime = response.commitTime
      if let after { Self.add(after, to: &roundTrips) }
    case .failure(let status): outcome.rejection = status
    }
    Self.add(outcome, to: &outcomes)
  }

  private static func add<Element>(_ element: Element, to elements: inout [Element]) {
    if elements.count == capacity { elements.removeFirst() }
    elements.append(element)
  }
}
