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
