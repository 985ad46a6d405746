// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// A result that a thread waits for. Whoever holds one owes it an answer.
final class BlockingAnswer<Success: Sendable>: Sendable {
  private let result = Mutex<Result<Success, FirestoreError>?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func give(_ answer: Result<Success, FirestoreError>) {
    result.withLock { $0 = answer }
    isThere.signal()
  }

  /// Blocks the thread. Called once.
  func wait() throws(FirestoreError) -> Success {
    isThere.wait()
    guard let answer = result.withLock({ $0 }) else { throw .terminated }
    return try answer.get()
  }
}

extension Result {
  /// The result of an operation that suspends.
  init(_ operation: () async throws(Failure) -> Success) async {
    do { self = .success(try await operation()) } catch { self = .failure(error) }
  }
}
