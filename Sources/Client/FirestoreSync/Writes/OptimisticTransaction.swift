// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One attempt of an optimistic transaction, as in the mobile SDKs. The backend does not lock documents and does not
/// know about the transaction. Reads record the versions of documents, and writes are collected. At the end, one commit
/// performs all writes, on the condition that the documents still have the recorded versions.
package struct OptimisticTransaction: Sendable {
  private enum Seen: Equatable {
    case version(SnapshotVersion)
    case missing
  }

  private var seen: [DocumentKey: Seen] = [:]
  /// The keys of `seen`, in order.
  private var readOrder: [DocumentKey] = []
  private var written: Set<DocumentKey> = []
  private var mutations: [Mutation] = []
  /// The error of an invalid write. The commit reports it.
  private var failure: RPCStatus?
  private var isFinished = false

  package init() {}

  /// - Throws: `invalid-argument` after the first write, because a read would not show the effect of this write.
  package func checkReadable() throws(RPCStatus) {
    try checkUnfinished()
    if !mutations.isEmpty || failure != nil {
      throw RPCStatus(
        .invalidArgument, "Firestore transactions require all reads to be executed before all writes.")
    }
  }

  /// Records the documents that the backend returned for a read.
  /// - Throws: `aborted` if a document differs from an earlier read. In this case the attempt cannot succeed.
  package mutating func note(_ documents: [Document]) throws(RPCStatus) {
    for document in documents {
      let now: Seen = document.exists ? document.version.map(Seen.version) ?? .missing : .missing
      guard let before = seen[document.key] else {
        seen[document.key] = now
        readOrder.append(document.key)
        continue
      }
      if before != now { throw RPCStatus(.aborted, "Document version changed between two reads.") }
    }
  }

  /// Adds a write. If the document was read before, the commit requires that it has not changed since.
  package mutating func write(_ mutation: Mutation) {
    if failure != nil || isFinished { return }
    var mutation = mutation
    if let seen = seen[mutation.key], !written.contains(mutation.key) {
      switch seen {
      case .version(let version): mutation.precondition = .updateTime(version)
      case .missing where mutation.precondition == .exists(true):
        return fail(RPCStatus(.invalidArgument, "Can't update document \(mutation.key), which doesn't exist."))
      case .missing: mutation.precondition = .exists(false)
      }
    }
    mutations.append(mutation)
    written.insert(mutation.key)
  }

  /// Makes the commit fail with this error, unless it already fails with an earlier error.
  package mutating func fail(_ status: RPCStatus) {
    if failure == nil { failure = status }
  }

  /// Ends the attempt.
  /// - Returns: the writes, and for each document that was only read, a check that it has not changed.
  package mutating func finish() throws(RPCStatus) -> [Mutation] {
    try checkUnfinished()
    isFinished = true
    if let failure { throw failure }
    let unwritten = readOrder.filter { !written.contains($0) }
    return mutations
      + unwritten.map { key in
        switch seen[key] {
        case .version(let version): Mutation(key: key, operation: .verify, precondition: .updateTime(version))
        case .missing, nil: Mutation(key: key, operation: .verify, precondition: .exists(false))
        }
      }
  }

  /// Ends the attempt without a commit.
  package mutating func abandon() { isFinished = true }

  private func checkUnfinished() throws(RPCStatus) {
    if isFinished {
      throw RPCStatus(
        .failedPrecondition, "A transaction cannot be used after its block has returned.")
    }
  }
}

/// The number of attempts of a transaction, and the delays between them.
package struct TransactionRetries: Sendable {
  /// The default number of attempts, as in the SDK (`kDefaultTransactionMaxAttempts`).
  package static let defaultAttempts = 5

  private var remaining: Int
  private var backoff = Backoff()

  /// - Parameter attempts: the total number of attempts, including the first.
  package init(attempts: Int) {
    remaining = attempts
  }

  /// Counts the attempt that begins now, and returns the delay before it.
  package mutating func begin(using random: inout some RandomNumberGenerator) -> Duration {
    remaining -= 1
    return backoff.next(using: &random)
  }

  /// Whether another attempt may follow this failure.
  ///
  /// The backend rejects an outdated read with `failed-precondition` or `aborted`, or with `already-exists` if a
  /// document did not exist when it was read. After these codes, and after any code that is not permanent, the next
  /// attempt can succeed (SDK `TransactionRunner::IsRetryableTransactionError`).
  package func allowsAttempt(after code: StatusCode) -> Bool {
    guard remaining > 0 else { return false }
    if code.isConflict { return true }
    switch code {
    // The caller has canceled the transaction.
    case .cancelled: return false
    default: return !code.isPermanentForWrites
    }
  }
}

extension StatusCode {
  /// Whether a transaction can fail with this code because its documents have changed since it read them.
  package var isConflict: Bool { self == .aborted || self == .alreadyExists || self == .failedPrecondition }
}
