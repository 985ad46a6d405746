// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol

/// The current user's writes on their way to the backend: the queue, the stream that takes them there, and the answers.
///
///     closed ──start──► starting ──opened──► open ──take, answered──┐
///       ▲                  │                  │ ▲                   │      failed, stop: batches in flight
///       └── stop, failed ──┴──────────────────┘ └───────────────────┘      return to the queue
///
/// Transitions that return effects want them performed.
struct WritePipeline: Sendable {
  private(set) var user: String?
  private(set) var queue = PendingWrites()
  private(set) var stream = ClientStream()
  var answers = WriteAnswers()
  var deadlines = WriteDeadlines()

  // MARK: The user

  /// Takes up a user's queue.
  mutating func begin(_ user: String?, with batches: [MutationBatch]) {
    self.user = user
    queue = PendingWrites(batches)
  }

  /// Takes up another user's queue.
  /// - Returns: the waits for writes of the user before, which are over.
  mutating func changeUser(to user: String?, with batches: [MutationBatch]) -> [PendingWritesWait] {
    begin(user, with: batches)
    answers.rejectedWritesChanged()
    return answers.takeWaits()
  }

  // MARK: The queue

  mutating func append(_ batch: MutationBatch) { queue.append(batch) }

  /// Appends batches that other clients of the cache may have stored, as far as they are new.
  mutating func appendNew(_ batches: [MutationBatch]) {
    for batch in batches where queue.isNew(batch.id) { queue.append(batch) }
  }

  /// Takes a batch out of the queue: it was answered, or taken back.
  /// - Parameters:
  ///   - time: the time of the backend's answer to this client.
  ///   - isShared: whether another client of the cache may have sent the batch.
  /// - Returns: the waits that are over; `nil` for another client's batch that was dealt with before.
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

  /// Measures the pending batches; see `PendingWrites.measured`.
  mutating func measured(ends: Int?) -> [PendingWrites.Entry] { queue.measured(ends: ends) }

  /// Sums up the sizes of all pending batches.
  mutating func size() -> QueueSize {
    QueueSize(count: queue.count, total: queue.total, byteCount: queue.byteCount())
  }

  /// Begins to wait until all writes that are pending now are done.
  /// - Returns: whether there are any.
  mutating func add(_ wait: PendingWritesWait) -> Bool {
    guard let last = queue.last else { return false }
    answers.add(wait, until: last)
    return true
  }

  // MARK: The stream

  /// Whether there is something to send and no stream for it.
  var isDue: Bool { !stream.isStarted && !queue.isEmpty }
  /// Whether there is a stream and nothing to send.
  var isIdle: Bool { stream.isOpen && queue.isEmpty }

  mutating func start(using generator: inout some RandomNumberGenerator) -> SyncEffect {
    let delay = stream.start(using: &generator)
    return .open(.write, stream.epoch, after: delay)
  }

  /// The effects by which an open stream is told of batches to send, or closed after a while without any.
  var prompt: [SyncEffect] {
    guard stream.isOpen else { return [] }
    if queue.hasUnsent { return [.cancel(.writeIdle), .wake(.write)] }
    return queue.isEmpty ? [.schedule(.writeIdle, after: ClientStream.idleTimeout)] : []
  }

  /// Notes that the backend answered the handshake.
  /// - Returns: whether the epoch is the current one (S8).
  mutating func opened(token: [UInt8], in epoch: StreamEpoch) -> Bool {
    guard stream.opened(epoch) else { return false }
    queue.streamOpened(token: token)
    return true
  }

  /// Takes the next batch for the stream; it is in flight from here on.
  mutating func take(
    in epoch: StreamEpoch, at now: Timestamp
  ) -> (batch: MutationBatch, request: WriteRequest)? {
    guard isOpen(in: epoch) else { return nil }
    return queue.take(at: now)
  }

  func isOpen(in epoch: StreamEpoch) -> Bool { epoch == stream.epoch && stream.isOpen }

  /// Notes an answer, which is about the oldest batch in flight (S4).
  /// - Returns: that batch; `nil`, and nothing is noted, for an answer that fits no batch.
  mutating func answered(_ response: CommitResponse, token: [UInt8]) -> MutationBatch? {
    guard let batch = queue.oldestInFlight, batch.mutations.count == response.results.count else { return nil }
    stream.succeeded()
    queue.answered(token: token)
    return batch
  }

  /// The end of a stream by itself.
  struct End {
    let wasOpen: Bool
    /// The batch that the error is about, if it is about one: everything else is sent again.
    let refused: MutationBatch?
  }

  /// Notes that the stream ended by itself. A permanent error after the handshake is about the oldest batch in flight
  /// (PROTOCOL §3.1).
  /// - Returns: `nil` for an old epoch (S8).
  mutating func failed(_ status: RPCStatus, in epoch: StreamEpoch) -> End? {
    guard epoch == stream.epoch, stream.isStarted else { return nil }
    let end = End(wasOpen: stream.isOpen, refused: status.code.isPermanentForWrites ? queue.oldestInFlight : nil)
    stream.failed(status)
    if end.refused != nil { stream.forgiveFailure() }
    queue.streamClosed()
    queue.note(status, of: end.refused?.id)
    return end
  }

  /// Gives the stream up; the next start is immediate.
  mutating func stop() -> [SyncEffect] {
    let epoch = stream.isStarted ? stream.epoch : nil
    stream.stop()
    queue.streamClosed()
    return epoch.map { [.close(.write, $0)] } ?? []
  }

  /// Gives up a stream that waits to be opened, so that it is started anew without a backoff.
  mutating func skipBackoff() -> [SyncEffect] { stream.skipBackoff().map { [.close(.write, $0)] } ?? [] }
}

/// The answers to the current user's writes: the calls that wait for them, the last that came, and the rejected writes.
struct WriteAnswers: Sendable {
  private var waits = WriteWaits()
  /// Writes that the client with the streams was asked to take back.
  private var cancellations: Set<BatchID> = []
  private(set) var history = WriteHistory()
  /// The stored rejected writes of the user; `nil` until a caller asks, and after each rejection.
  private(set) var rejected: [RejectedWrite]?

  /// Notes the result of a batch that has left the queue.
  /// - Parameters:
  ///   - documents: the documents of the batch, if they are known.
  ///   - delay: the time from sending to the backend's answer.
  ///   - first: the first batch that is still pending; `nil` if none is.
  /// - Returns: the waits that are over.
  mutating func add(
    _ result: Result<CommitResponse, RPCStatus>, of id: BatchID, _ documents: WrittenDocuments?, after delay: Duration?,
    stillPending first: BatchID?
  ) -> [PendingWritesWait] {
    history.add(id, result, of: documents, after: delay)
    return waits.takeDone(before: first)
  }

  // MARK: Waits

  mutating func add(_ wait: PendingWritesWait, until last: BatchID) { waits.add(wait, until: last) }

  /// Takes all waits, since what they wait for will not come.
  mutating func takeWaits() -> [PendingWritesWait] { waits.takeAll() }

  // MARK: Cancellations

  /// The writes that the client with the streams was asked to take back, without an answer so far.
  var awaitedCancellations: [BatchID] { cancellations.sorted() }

  /// Notes that the client with the streams was asked to take a write back.
  mutating func cancellationAsked(of id: BatchID) { cancellations.insert(id) }

  /// Notes that the write was answered, or is not taken back.
  /// - Returns: whether this client had asked to take it back.
  @discardableResult
  mutating func cancellationEnded(of id: BatchID) -> Bool { cancellations.remove(id) != nil }

  // MARK: Rejected writes

  /// Notes which rejected writes are stored.
  mutating func rejectedWritesRead(_ writes: [RejectedWrite]) { rejected = writes }

  /// Notes that others are stored now; they are read again when a caller asks.
  mutating func rejectedWritesChanged() { rejected = nil }

  /// Notes that a rejected write is not stored any more.
  mutating func rejectedWriteLeft(_ id: BatchID) { rejected?.removeAll { $0.id == id } }
}

/// The results of the last batches that left the queue, and the backend's times to answer.
struct WriteHistory: Sendable {
  private static let capacity = 64

  /// The results, newest last.
  private(set) var outcomes: [WriteOutcome] = []
  /// The times from sending to the acknowledgement, newest last.
  private(set) var roundTrips: [Duration] = []
  private var sequence = 0

  /// - Parameters:
  ///   - documents: the documents of the batch, if they are known.
  ///   - after: the time from sending to the backend's answer.
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
