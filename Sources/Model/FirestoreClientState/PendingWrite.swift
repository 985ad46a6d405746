// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One batch that the backend has not acknowledged.
package struct PendingWrite: Equatable, Sendable {
  package enum State: Hashable, Sendable {
    /// The batch cannot be sent, because the network is disabled or the cache cannot be written.
    case held
    /// The batch is waiting in the queue to be sent.
    case queued
    case inFlight
    /// The batch waits for the next attempt to connect, at this time.
    case backoff(until: Timestamp)
  }

  package var id: BatchID
  package var mutations: [Mutation]
  /// The time of the write, by this device's clock.
  package var localWriteTime: Timestamp
  /// The size in bytes of the encoded batch.
  package var byteCount: Int
  /// The number of times that the batch was sent since the client started.
  package var attempts: Int
  package var state: State
  /// The error of the last failed attempt to send the batch; `nil` if no attempt has failed.
  package var lastError: RPCStatus?

  package init(
    id: BatchID, mutations: [Mutation], localWriteTime: Timestamp, byteCount: Int, attempts: Int, state: State,
    lastError: RPCStatus? = nil
  ) {
    self.id = id
    self.mutations = mutations
    self.localWriteTime = localWriteTime
    self.byteCount = byteCount
    self.attempts = attempts
    self.state = state
    self.lastError = lastError
  }
}

/// The size of the whole queue. It includes batches that are not listed.
package struct QueueSize: Hashable, Sendable {
  package var count: Int
  /// The number of batches that were added since the queue was last empty. Together with `count`, it shows the progress
  /// of sending.
  package var total: Int
  /// The total size in bytes of the encoded batches.
  package var byteCount: Int

  package init(count: Int = 0, total: Int = 0, byteCount: Int = 0) {
    self.count = count
    self.total = total
    self.byteCount = byteCount
  }
}

/// The outcome of a batch that has left the queue.
package struct WriteOutcome: Sendable {
  /// The number of this outcome. Outcomes are numbered consecutively, so that observers can detect new outcomes.
  package var sequence: Int
  package var batch: BatchID
  /// The time from sending the batch to the response; `nil` if the batch was never sent.
  package var after: Duration?
  /// The error that ended the batch; `nil` for an acknowledgement. If the user canceled the batch, the code is
  /// `cancelled`.
  package var rejection: RPCStatus?
  /// The commit time by the backend's clock; `nil` if the batch was not applied.
  package var commitTime: SnapshotVersion?
  /// The documents of the batch; `nil` if unknown.
  package var documents: WrittenDocuments?

  package init(
    sequence: Int, batch: BatchID, after: Duration?, rejection: RPCStatus?, commitTime: SnapshotVersion? = nil,
    documents: WrittenDocuments? = nil
  ) {
    self.sequence = sequence
    self.batch = batch
    self.after = after
    self.rejection = rejection
    self.commitTime = commitTime
    self.documents = documents
  }
}

/// A batch that the backend rejected permanently. The batch remains stored, so that user data is never lost silently.
package struct RejectedWrite: Equatable, Sendable {
  /// The id that the batch had in the queue. Ids are never reused.
  package var id: BatchID
  package var mutations: [Mutation]
  /// The time of the write, by this device's clock.
  package var localWriteTime: Timestamp
  package var rejection: Rejection
  /// The size in bytes of the encoded batch.
  package var byteCount: Int

  package init(
    id: BatchID, mutations: [Mutation], localWriteTime: Timestamp, rejection: Rejection, byteCount: Int
  ) {
    self.id = id
    self.mutations = mutations
    self.localWriteTime = localWriteTime
    self.rejection = rejection
    self.byteCount = byteCount
  }
}

extension RPCStatus {
  /// Whether a rejection with this code came from the client and not from the backend: the batch was canceled or set
  /// aside, or its deadline passed before it was sent. Backends never use these codes to reject a write permanently.
  package var endsWriteHere: Bool { code == .cancelled || code == .deadlineExceeded }

  /// The status of a batch that the user set aside: it is stored with the rejected writes, but was never sent.
  package static let setAside = RPCStatus(.cancelled, "Set aside by hand. It was not sent.")
}

extension RejectedWrite {
  /// Whether the user set the batch aside. If not, the backend rejected it.
  package var isSetAside: Bool { rejection.status.code == .cancelled }
}

/// The reason why a batch was rejected: the backend's error, or that the user set it aside.
package struct Rejection: Hashable, Sendable {
  package var status: RPCStatus
  /// The time of the rejection, by this device's clock.
  package var time: Timestamp
  /// The number of times that the batch was sent since the client started.
  package var attempts: Int

  package init(status: RPCStatus, time: Timestamp, attempts: Int) {
    self.status = status
    self.time = time
    self.attempts = attempts
  }
}

/// A document that a batch writes, and the batch's effect on the document.
package struct WrittenDocument: Hashable, Sendable {
  package enum Effect: String, Hashable, Sendable { case created, changed, deleted }

  package var key: DocumentKey
  package var effect: Effect

  package init(_ key: DocumentKey, _ effect: Effect) {
    self.key = key
    self.effect = effect
  }
}

/// The documents that a batch wrote: the names of the first ones, and the total count. The size of this summary is
/// limited, because an outcome is reported repeatedly until newer outcomes replace it.
package struct WrittenDocuments: Hashable, Sendable {
  /// The maximum number of documents whose names are stored.
  package static let named = 20

  /// The first documents, in the order of the batch and without duplicates.
  package private(set) var first: [WrittenDocument] = []
  /// The total document count, including the documents that are not in `first`.
  package private(set) var count = 0
  /// The number of documents that are not in `first`.
  package var unnamed: Int { max(0, min(count, 1 << 40) - first.count) }

  /// Creates the summary of a batch. Mutations that only check a condition are not counted.
  /// - Parameter limit: the maximum number of documents in `first`.
  package init(of mutations: [Mutation], naming limit: Int = Self.named) {
    var places: [DocumentKey: Int] = [:]
    for mutation in mutations {
      guard let effect = WrittenDocument.Effect(mutation) else { continue }
      if let place = places[mutation.key] {
        if place < first.count { first[place].effect = first[place].effect.followed(by: effect) }
        continue
      }
      places[mutation.key] = places.count
      if first.count < limit { first.append(WrittenDocument(mutation.key, effect)) }
    }
    count = places.count
  }

  /// Creates a summary from the data that another process reported.
  package init(naming first: [WrittenDocument], of count: Int) {
    self.first = first
    self.count = count
  }
}

extension WrittenDocument.Effect {
  /// - Returns: `nil` if the mutation only checks a condition.
  package init?(_ mutation: Mutation) {
    switch mutation.operation {
    case .delete: self = .deleted
    case .set where mutation.precondition == .exists(false): self = .created
    case .set, .patch: self = .changed
    case .verify: return nil
    }
  }

  /// The combined effect of two mutations in one batch.
  fileprivate func followed(by next: Self) -> Self { next == .changed && self == .created ? .created : next }
}
