// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// How much waits, whatever of it the rows of pane 2 are.
package struct QueueSize: Hashable, Sendable {
  package var count: Int
  /// How many batches there were since the queue was last empty.
  package var total: Int
  /// Encoded.
  package var byteCount: Int

  package init(count: Int, total: Int, byteCount: Int) {
    self.count = count
    self.total = total
    self.byteCount = byteCount
  }
}

/// One batch of pane 2.
package struct QueueRow: Equatable, Sendable {
  package enum Operation: String, Hashable, Sendable { case set, update, delete, increment, verify, batch }

  package enum State: Hashable, Sendable {
    /// The network is off.
    case held
    case queued
    case inFlight
    case backoff(until: Timestamp)
    case acknowledged(after: Duration)
    case rejected(RPCStatus)
  }

  package var batch: BatchID
  package var operation: Operation
  package var documents: [DocumentKey]
  /// What it does, as far as that is needed to edit it or take it back.
  package var mutations: [Mutation]
  /// When the write was made, by this device's clock.
  package var writtenAt: Timestamp
  /// Size of the encoded batch.
  package var byteCount: Int
  /// How often it was sent.
  package var tries: Int
  package var state: State
  package var transformCount: Int
  /// Whether sending it twice changes the result (an increment): it may be applied twice if an acknowledgement is lost.
  package var isNonIdempotent: Bool
  package var lastError: RPCStatus?
  package var rejectedAt: Timestamp?

  package init(
    batch: BatchID, operation: Operation, documents: [DocumentKey], mutations: [Mutation] = [],
    writtenAt: Timestamp, byteCount: Int = 0, tries: Int = 0, state: State, transformCount: Int = 0,
    isNonIdempotent: Bool = false, lastError: RPCStatus? = nil,
    rejectedAt: Timestamp? = nil
  ) {
    self.batch = batch
    self.operation = operation
    self.documents = documents
    self.mutations = mutations
    self.writtenAt = writtenAt
    self.byteCount = byteCount
    self.tries = tries
    self.state = state
    self.transformCount = transformCount
    self.isNonIdempotent = isNonIdempotent
    self.lastError = lastError
    self.rejectedAt = rejectedAt
  }
}

extension QueueRow {
  /// Describes the mutations of a batch; several of them are a `batch`.
  package static func operation(of mutations: [Mutation]) -> Operation {
    guard mutations.count == 1, let mutation = mutations.first else { return .batch }
    switch mutation.operation {
    case .set: return .set
    case .delete: return .delete
    case .verify: return .verify
    case .patch(let fields, _):
      let isIncrement = fields.isEmpty && isNonIdempotent(mutations)
      return isIncrement ? .increment : .update
    }
  }

  /// Whether one of the mutations gives another result when applied twice.
  package static func isNonIdempotent(_ mutations: [Mutation]) -> Bool {
    mutations.contains { mutation in
      mutation.transforms.contains { if case .increment = $0.operation { true } else { false } }
    }
  }

  /// Everything a filter looks at.
  var searchText: String {
    let word =
      switch state {
      case .held: "held"
      case .queued: "queued"
      case .inFlight: "in flight"
      case .backoff: "backoff retry"
      case .acknowledged: "acked"
      case .rejected: "rejected"
      }
    let paths = documents.map(\.path.text).joined(separator: " ")
    return "\(batch) \(operation.rawValue) \(paths) \(word) \(error?.description ?? "")"
  }

  package var isRejected: Bool { if case .rejected = state { true } else { false } }

  /// The backend's last word on it, or why it was not heard.
  package var error: RPCStatus? {
    switch state {
    case .rejected(let status): status
    case .acknowledged: nil
    case .held, .queued, .inFlight, .backoff: lastError
    }
  }

  package var isFinished: Bool {
    switch state {
    case .acknowledged, .rejected: true
    case .held, .queued, .inFlight, .backoff: false
    }
  }
}
