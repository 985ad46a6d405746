// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One attempt of an optimistic transaction, as in mobile clients. The backend holds no lock and does not know of the
/// transaction. Reads record the versions of documents, and writes are collected. One commit of all writes then
/// requires the recorded versions.
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
  /// The error of a write, which the commit reports.
  private var failure: RPCStatus?
  private var isFinished = false

  package init() {}

  /// - Throws: `invalid-argument` after the first write, because a read could not include the write.
  package func checkReadable() throws(RPCStatus) {
    try checkUnfinished()
    if !mutations.isEmpty || failure != nil {
      throw RPCStatus(
        .invalidArgument, "Firestore transactions require all reads to be executed before all writes.")
    }
  }

  /// Records the backend's result of a read.
  /// - Throws: `aborted` if it differs from an earlier result, so that the attempt cannot succeed.
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

  /// Adds a write. A document that was read must be unchanged at the commit.
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

  /// Makes the commit fail with this error, unless an earlier write has failed.
  package mutating func fail(_ status: RPCStatus) {
    if failure == nil { failure = status }
  }

  /// Ends the attempt.
  /// - Returns: the writes, and a check for every document that was only read.
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

/// The attempts of a transaction, with their delays.
package struct TransactionRetries: Sendable {
  /// The SDK's number of attempts (`kDefaultTransactionMaxAttempts`).
  package static let defaultAttempts = 5

  private var remaining: Int
  private var backoff = Backoff()

  /// - Parameter attempts: the total number of attempts, including the first.
  package init(attempts: Int) {
    remaining = attempts
  }

  /// Counts an attempt that begins now.
  package mutating func begin(using random: inout some RandomNumberGenerator) -> Duration {
    remaining -= 1
    return backoff.next(using: &random)
  }

  /// Whether another attempt may follow this failure.
  ///
  /// The backend rejects an outdated read with `failed-precondition` or `aborted`, and with `already-exists` if a
  /// document was missing when it was read. After these codes, and after any code that is not permanent, the next
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
  /// Whether a transaction ends with this code if its documents have changed since it read them.
  package var isConflict: Bool { self == .aborted || self == .alreadyExists || self == .failedPrecondition }
}
