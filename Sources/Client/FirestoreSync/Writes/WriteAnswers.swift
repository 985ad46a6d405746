// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol

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
