// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// One batch of pane 2: one that waits, or what became of it.
package struct QueueRow: Equatable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// `after` is `nil` where it is not known when the batch was sent.
    case acknowledged(after: Duration?)
    /// `at` is `nil` until the cache says when.
    case rejected(RPCStatus, at: Timestamp?)
  }

  package enum Operation: String, Hashable, Sendable { case set, update, delete, increment, verify, batch }

  package var write: PendingWrite
  /// `nil` while it waits.
  package var outcome: Outcome?

  package init(_ write: PendingWrite) { self.write = write }

  package init(_ rejected: RejectedWrite) {
    write = PendingWrite(
      id: rejected.id, mutations: rejected.mutations, localWriteTime: rejected.localWriteTime,
      byteCount: rejected.byteCount, attempts: rejected.rejection.attempts, state: .queued)
    outcome = .rejected(rejected.rejection.status, at: rejected.rejection.time)
  }

  package var batch: BatchID { write.id }
  var documents: [DocumentKey] { write.mutations.map(\.key) }
  var transformCount: Int { write.mutations.reduce(0) { $0 + $1.transforms.count } }

  /// What the batch does; several mutations are a `batch`.
  var operation: Operation {
    guard write.mutations.count == 1, let mutation = write.mutations.first else { return .batch }
    switch mutation.operation {
    case .set: return .set
    case .delete: return .delete
    case .verify: return .verify
    case .patch(let fields, _): return fields.isEmpty && isNonIdempotent ? .increment : .update
    }
  }

  /// Whether sending it twice changes the result (an increment): it may be applied twice if an acknowledgement is lost.
  var isNonIdempotent: Bool {
    write.mutations.contains { mutation in
      mutation.transforms.contains { if case .increment = $0.operation { true } else { false } }
    }
  }

  /// How often it was tried to send it: a connection that does not come about is a try too.
  var tries: Int {
    if outcome == nil, case .backoff = write.state { return max(1, write.attempts) }
    return write.attempts
  }

  var isHeld: Bool { outcome == nil && write.state == .held }
  var isFinished: Bool { outcome != nil }
  package var isRejected: Bool { if case .rejected = outcome { true } else { false } }
  var rejectedAt: Timestamp? { if case .rejected(_, let time) = outcome { time } else { nil } }

  /// The backend's last word on it, or why it was not heard.
  var error: RPCStatus? {
    switch outcome {
    case .rejected(let status, _): status
    case .acknowledged: nil
    case nil: write.lastError
    }
  }

  /// Everything a filter looks at.
  var searchText: String {
    let paths = documents.map(\.path.text).joined(separator: " ")
    return "\(batch) \(operation.rawValue) \(paths) \(stateWord) \(error?.description ?? "")"
  }

  /// What conditions on fields are about: the values that it writes.
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
    case (.rejected, _): "rejected"
    case (nil, .held): "held"
    case (nil, .queued): "queued"
    case (nil, .inFlight): "in flight"
    case (nil, .backoff): "backoff retry"
    }
  }
}
