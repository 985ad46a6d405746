// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One batch that the backend has not acknowledged.
package struct PendingWrite: Equatable, Sendable {
  package enum State: Hashable, Sendable {
    /// The batch is held back: the network is switched off, or not used because the cache cannot be written.
    case held
    /// The batch waits for its turn.
    case queued
    case inFlight
    /// The batch waits for the next attempt to connect.
    case backoff(until: Timestamp)
  }

  package var id: BatchID
  package var mutations: [Mutation]
  /// The time of the write, by this device's clock.
  package var localWriteTime: Timestamp
  /// The size of the encoded batch.
  package var byteCount: Int
  /// The number of times that the batch was sent since the client was started.
  package var attempts: Int
  package var state: State
  /// The error of the last attempt to send the batch; `nil` if none failed.
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

/// The size of the whole queue, also if only a part of it is listed.
package struct QueueSize: Hashable, Sendable {
  package var count: Int
  /// The number of batches since the queue was last empty; with `count` it gives the progress of sending.
  package var total: Int
  /// The size of the encoded batches.
  package var byteCount: Int

  package init(count: Int = 0, total: Int = 0, byteCount: Int = 0) {
    self.count = count
    self.total = total
    self.byteCount = byteCount
  }
}

/// The way in which a batch left the queue.
package struct WriteOutcome: Sendable {
  /// The outcome's number, which grows by one, so that an observer knows the outcomes that it has seen.
  package var sequence: Int
  package var batch: BatchID
  /// The time from sending to the answer; `nil` for a batch that was never sent.
  package var after: Duration?
  /// The backend's error; `nil` for an acknowledgement, code `cancelled` for a batch that the user cancelled.
  package var rejection: RPCStatus?
  /// The time at which the backend applied the batch, by its clock; `nil` for a batch that it did not apply.
  package var commitTime: SnapshotVersion?
  /// The documents of the batch; `nil` if they are not known.
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

/// A batch that the backend refused for good, kept so that nothing a user wrote is lost without a trace.
package struct RejectedWrite: Equatable, Sendable {
  /// The number under which the batch waited; no other batch ever gets it.
  package var id: BatchID
  package var mutations: [Mutation]
  /// The time of the write, by this device's clock.
  package var localWriteTime: Timestamp
  package var rejection: Rejection
  /// The size of the encoded batch.
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
  /// Whether a batch that failed so ended here, and not at the backend: it was taken back or set aside, or its deadline
  /// passed before it was sent. No backend refuses a write for good with these codes.
  package var endsWriteHere: Bool { code == .cancelled || code == .deadlineExceeded }

  /// The reason of a batch that was set aside by hand: it stands among the rejected ones, and was not sent.
  package static let setAside = RPCStatus(.cancelled, "Set aside by hand; it was not sent.")
}

extension RejectedWrite {
  /// Whether the batch was set aside by hand, and not refused by the backend.
  package var isSetAside: Bool { rejection.status.code == .cancelled }
}

/// The backend's last word on a batch, or the user's.
package struct Rejection: Hashable, Sendable {
  package var status: RPCStatus
  /// The time of the rejection, by this device's clock.
  package var time: Timestamp
  /// The number of times that the batch was sent since the client was started.
  package var attempts: Int

  package init(status: RPCStatus, time: Timestamp, attempts: Int) {
    self.status = status
    self.time = time
    self.attempts = attempts
  }
}

/// A document of a batch, and the effect of the batch on it.
package struct WrittenDocument: Hashable, Sendable {
  package enum Effect: String, Hashable, Sendable { case created, changed, deleted }

  package var key: DocumentKey
  package var effect: Effect

  package init(_ key: DocumentKey, _ effect: Effect) {
    self.key = key
    self.effect = effect
  }
}

/// The documents that a batch wrote: the first of them, and how many there are. Bounded, since an answer is told again
/// and again until later ones take its place.
package struct WrittenDocuments: Hashable, Sendable {
  /// The number of documents that are named.
  package static let named = 20

  /// The first documents in the order of the batch, each once.
  package private(set) var first: [WrittenDocument] = []
  /// The number of documents, with those that are not named.
  package private(set) var count = 0
  /// The number of documents that are not named.
  package var unnamed: Int { max(0, min(count, 1 << 40) - first.count) }

  /// Names the documents of a batch. Mutations that only check a condition write nothing.
  /// - Parameter limit: the number of documents to name.
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

  /// The documents as they were told.
  package init(naming first: [WrittenDocument], of count: Int) {
    self.first = first
    self.count = count
  }
}

extension WrittenDocument.Effect {
  /// - Returns: `nil` for a mutation that changes nothing.
  package init?(_ mutation: Mutation) {
    switch mutation.operation {
    case .delete: self = .deleted
    case .set where mutation.precondition == .exists(false): self = .created
    case .set, .patch: self = .changed
    case .verify: return nil
    }
  }

  /// The effect of two mutations of one batch together.
  fileprivate func followed(by next: Self) -> Self { next == .changed && self == .created ? .created : next }
}
