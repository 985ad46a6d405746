// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// One batch of pane 2: a pending one, or a finished one with its outcome.
package struct QueueRow: Equatable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// An acknowledged batch; `after` is `nil` if the time of sending is not known.
    case acknowledged(after: Duration?)
    /// A rejected batch; `at` is `nil` until the cache tells the time.
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

  /// The operation of the batch; several mutations are a `batch`.
  package var operation: Operation {
    guard write.mutations.count == 1, let mutation = write.mutations.first else { return .batch }
    switch mutation.operation {
    case .set: return .set
    case .delete: return .delete
    case .verify: return .verify
    case .patch(let fields, _): return fields.isEmpty && isNonIdempotent ? .increment : .update
    }
  }

  /// Whether sending the batch twice changes the result (an increment): it may be applied twice if an acknowledgement
  /// is lost.
  package var isNonIdempotent: Bool {
    write.mutations.contains { mutation in
      mutation.transforms.contains { if case .increment = $0.operation { true } else { false } }
    }
  }

  /// The number of attempts to send the batch, including attempts that failed to connect.
  package var tries: Int {
    if outcome == nil, case .backoff = write.state { return max(1, write.attempts) }
    return write.attempts
  }

  package var isHeld: Bool { outcome == nil && write.state == .held }
  package var isFinished: Bool { outcome != nil }
  package var isRejected: Bool { if case .rejected = outcome { true } else { false } }
  /// Whether the batch was set aside by hand, and stands among the rejected ones until it is sent again or dropped.
  package var isSetAside: Bool {
    if case .rejected(let status, _) = outcome { status.code == .cancelled } else { false }
  }
  package var rejectedAt: Timestamp? { if case .rejected(_, let time) = outcome { time } else { nil } }

  /// The backend's error for the batch, or the reason why the backend could not be reached.
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

  /// The values that the batch writes, for a filter's conditions on fields.
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
    case (.acknowledged, _): "acked"
    case (.rejected, _): isSetAside ? "set aside" : "rejected"
    case (nil, .held): "held"
    case (nil, .queued): "queued"
    case (nil, .inFlight): "in flight"
    case (nil, .backoff): "backoff retry"
    }
  }
}
