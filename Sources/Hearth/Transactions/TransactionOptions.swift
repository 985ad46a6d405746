// SPDX-License-Identifier: Apache-2.0
import FirestoreSync
import Synchronization

/// How a transaction is run.
///
/// A class, as in the official SDK, so that `let options = TransactionOptions(); options.maxAttempts = …` compiles.
public final class TransactionOptions: Sendable {
  private let attempts = Mutex(TransactionRetries.defaultAttempts)

  /// Five attempts, as in the SDK.
  public init() {}

  /// How often the block may be run in all; 5 unless set. A number outside 1…`Int32.max` fails the transaction with
  /// `invalidArgument`.
  public var maxAttempts: Int {
    get { attempts.withLock { $0 } }
    set { attempts.withLock { $0 = newValue } }
  }

  func checkedAttempts() throws(FirestoreError) -> Int {
    let attempts = maxAttempts
    guard (1...Int(Int32.max)).contains(attempts) else {
      throw .invalidArgument("TransactionOptions.maxAttempts must be 1…\(Int32.max), not \(attempts).")
    }
    return attempts
  }
}

extension TransactionOptions: Hashable {
  public static func == (left: TransactionOptions, right: TransactionOptions) -> Bool {
    left.maxAttempts == right.maxAttempts
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(maxAttempts) }
}
