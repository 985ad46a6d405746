// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// How often and how soon a transaction is tried again.
package struct TransactionRetries: Sendable {
  /// SDK `kDefaultTransactionMaxAttempts`.
  package static let defaultAttempts = 5

  private var remaining: Int
  private var backoff = Backoff()

  /// - Parameter attempts: in all, the first one included.
  package init(attempts: Int) {
    remaining = attempts
  }

  /// Counts an attempt that begins now.
  package mutating func begin(using random: inout some RandomNumberGenerator) -> Duration {
    remaining -= 1
    return backoff.next(using: &random)
  }

  /// Whether another attempt may follow on a failure of this one.
  ///
  /// The backend answers an outdated read with `failed-precondition` or `aborted`, and with `already-exists` where a
  /// document was read as missing; these can go well next time, as can whatever is not permanent (SDK
  /// `TransactionRunner::IsRetryableTransactionError`).
  package func allowsAttempt(after code: StatusCode) -> Bool {
    guard remaining > 0 else { return false }
    switch code {
    case .aborted, .alreadyExists, .failedPrecondition: return true
    // Means that the caller has lost interest.
    case .cancelled: return false
    default: return !code.isPermanentForWrites
    }
  }
}
