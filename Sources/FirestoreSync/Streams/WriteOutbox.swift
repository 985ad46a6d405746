// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol

/// The batches that are on their way to the backend, in batch-id order; the k-th response answers the k-th batch (S4).
package struct WriteOutbox: Sendable {
  /// SDK remote_store: MAX_PENDING_WRITES.
  package static let capacity = 10

  package private(set) var batches: [MutationBatch] = []
  /// How many of the first batches were handed out on the current stream.
  package private(set) var sentCount = 0
  /// The newest token of the current stream; `nil` until its handshake is answered.
  private var streamToken: [UInt8]?

  package init() {}

  package var hasRoom: Bool { batches.count < Self.capacity }
  package var isEmpty: Bool { batches.isEmpty }
  package var isHandshakeComplete: Bool { streamToken != nil }
  package var hasUnsent: Bool { isHandshakeComplete && sentCount < batches.count }

  package func isInFlight(_ id: BatchID) -> Bool { batches.prefix(sentCount).contains { $0.id == id } }

  /// - Precondition: there is room, and the id is above all others (S4).
  package mutating func append(_ batch: MutationBatch) {
    precondition(hasRoom, "the write pipeline is full")
    precondition(batches.last.map { $0.id < batch.id } ?? true, "batch \(batch.id) is out of order")
    batches.append(batch)
  }

  /// The backend answered the handshake.
  package mutating func streamOpened(token: [UInt8]) { streamToken = token }

  /// Hands the next batch out; it counts as in flight from here on.
  package mutating func take() -> (batch: MutationBatch, request: WriteRequest)? {
    guard let streamToken, sentCount < batches.count else { return nil }
    let batch = batches[sentCount]
    sentCount += 1
    return (batch, WriteRequest(streamToken: streamToken, mutations: batch.mutations))
  }

  /// A response arrived.
  /// - Returns: the batch it answers (S4); `nil` if none is in flight, which breaks the protocol.
  package mutating func committed(token: [UInt8]) -> MutationBatch? {
    streamToken = token
    guard sentCount > 0 else { return nil }
    sentCount -= 1
    return batches.removeFirst()
  }

  /// The stream is gone; everything unanswered will be sent again.
  package mutating func streamClosed() {
    sentCount = 0
    streamToken = nil
  }

  /// Takes the batch out that the backend rejected by ending the stream.
  package mutating func removeFirst() -> MutationBatch? {
    guard !batches.isEmpty else { return nil }
    sentCount = max(0, sentCount - 1)
    return batches.removeFirst()
  }

  /// Takes out a batch that has not been handed out.
  package mutating func removeUnsent(_ id: BatchID) {
    guard let index = batches.firstIndex(where: { $0.id == id }), index >= sentCount else { return }
    batches.remove(at: index)
  }

  /// Forgets everything, as when the network goes down; the queue in the store is what counts.
  package mutating func removeAll() { self = WriteOutbox() }
}
