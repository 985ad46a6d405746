// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Synchronization

/// Decides the order in which conflicting transactions of one client retry.
///
/// A transaction can retry without a delay if another transaction of the same client changed its documents. In this
/// case the backend is not overloaded, and no other client is involved. The transaction waits until all transactions
/// that failed earlier on the same documents have ended. Transactions that read these documents for the first time wait
/// for the retrying transaction.
///
/// A transaction inside another transaction's block does not wait for the outer one. The nesting is detected through a
/// task-local value. If the inner transaction does not inherit this value, it waits for the maximum time.
package final class TransactionQueue: Sendable {
  private struct Attempt {
    var reads: Set<DocumentKey> = []
    var writes: Set<DocumentKey> = []
    var isOvertaken = false
  }

  /// The maximum time to wait while no earlier transaction ends.
  package static let patience = Duration.seconds(30)

  /// The transactions in whose blocks the current task runs.
  @TaskLocal package static var enclosing: Set<UInt64> = []

  private struct Wait {
    var transaction: UInt64
    var keys: Set<DocumentKey>
    var enclosing: Set<UInt64>
    var continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var lastTransaction: UInt64 = 0
    var lastWait: UInt64 = 0
    var attempts: [UInt64: Attempt] = [:]
    /// The transactions that will retry, in the order of their first failure, each with the documents that it read.
    var queue: [(transaction: UInt64, keys: Set<DocumentKey>)] = []
    var waits: [UInt64: Wait] = [:]
    /// Waits that were ended before they had begun.
    var ended: Set<UInt64> = []

    /// Whether no transaction that failed earlier uses any of the documents.
    func isFree(_ keys: Set<DocumentKey>, _ transaction: UInt64, _ enclosing: Set<UInt64>) -> Bool {
      before(keys, transaction, enclosing).isEmpty
    }

    /// The transactions for which a transaction must wait: those that failed earlier and read one of these documents. A
    /// transaction that has not failed yet comes after all transactions that have failed.
    func before(_ keys: Set<DocumentKey>, _ transaction: UInt64, _ enclosing: Set<UInt64>) -> [UInt64] {
      queue.prefix { $0.transaction != transaction }
        .filter { !$0.keys.isDisjoint(with: keys) && !enclosing.contains($0.transaction) }.map(\.transaction)
    }

    mutating func takeFree() -> [Wait] {
      let free = waits.filter { isFree($0.value.keys, $0.value.transaction, $0.value.enclosing) }
      for number in free.keys { waits[number] = nil }
      return Array(free.values)
    }
  }

  private let state = Mutex(State())
  private let clock: any Clock<Duration>
  private let executor: (any TaskExecutor)?

  /// - Parameters:
  ///   - clock: measures the maximum time to wait.
  ///   - executor: the executor on which to wait; `nil` for the default executor.
  package init(clock: any Clock<Duration> = ContinuousClock(), on executor: (any TaskExecutor)? = nil) {
    (self.clock, self.executor) = (clock, executor)
  }

  /// The number of running and waiting transactions.
  package var count: Int { state.withLock { Set($0.attempts.keys).union($0.queue.map(\.transaction)).count } }

  /// Whether a transaction is waiting for its turn.
  package func isWaiting(_ transaction: UInt64) -> Bool {
    state.withLock { $0.waits.values.contains { $0.transaction == transaction } }
  }

  // MARK: Attempts

  /// Registers a new transaction and returns its number.
  package func begin() -> UInt64 {
    state.withLock { state in
      state.lastTransaction += 1
      return state.lastTransaction
    }
  }

  /// Waits for the transactions that are retrying with these documents. Then records that this transaction reads the
  /// documents.
  package func reads(_ keys: Set<DocumentKey>, _ transaction: UInt64) async {
    await wait(for: keys, transaction, atMost: Self.patience)
    state.withLock { $0.attempts[transaction, default: Attempt()].reads.formUnion(keys) }
  }

  /// Records that a transaction's commit was sent.
  package func commits(_ keys: Set<DocumentKey>, _ transaction: UInt64) {
    state.withLock { $0.attempts[transaction, default: Attempt()].writes = keys }
  }

  /// Ends an attempt that failed because a document had changed.
  /// - Returns: the documents that the attempt read, if another transaction of this client caused the failure;
  ///   otherwise `nil`.
  package func fails(_ transaction: UInt64) -> Set<DocumentKey>? {
    state.withLock { state in
      guard let attempt = state.attempts.removeValue(forKey: transaction) else { return nil }
      let isOvertaken =
        attempt.isOvertaken || state.attempts.values.contains { !$0.writes.isDisjoint(with: attempt.reads) }
      return isOvertaken ? attempt.reads : nil
    }
  }

  /// Waits until the transaction may retry.
  package func turn(
    _ transaction: UInt64, _ keys: Set<DocumentKey>, atMost longest: Duration = TransactionQueue.patience
  ) async {
    state.withLock { state in
      if let index = state.queue.firstIndex(where: { $0.transaction == transaction }) {
        state.queue[index].keys.formUnion(keys)
      } else {
        state.queue.append((transaction, keys))
      }
    }
    await wait(for: keys, transaction, atMost: longest)
  }

  /// Ends a transaction.
  /// - Parameter isCommitted: whether the commit succeeded. If so, the documents that were passed to `commits` have
  ///   changed.
  package func end(_ transaction: UInt64, isCommitted: Bool) {
    let free = state.withLock { state in
      let attempt = state.attempts.removeValue(forKey: transaction)
      if isCommitted, let attempt {
        for (other, reads) in state.attempts.mapValues(\.reads) where !reads.isDisjoint(with: attempt.writes) {
          state.attempts[other]?.isOvertaken = true
        }
      }
      state.queue.removeAll { $0.transaction == transaction }
      return state.takeFree()
    }
    for wait in free { wait.continuation.resume() }
  }

  // MARK: Waiting

  private func wait(for keys: Set<DocumentKey>, _ transaction: UInt64, atMost longest: Duration) async {
    let enclosing = Self.enclosing
    let number: UInt64? = state.withLock { state in
      if state.isFree(keys, transaction, enclosing) { return nil }
      state.lastWait += 1
      return state.lastWait
    }
    guard let number else { return }
    let limit = Task(executorPreference: executor) { [self] in
      var before: [UInt64]?
      while let now = state.withLock({ $0.ended.contains(number) ? nil : $0.before(keys, transaction, enclosing) }),
        now != before
      {
        before = now
        try await clock.sleep(for: longest)
      }
      end(wait: number)
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.ended.contains(number) || state.isFree(keys, transaction, enclosing) { return true }
          state.waits[number] = Wait(
            transaction: transaction, keys: keys, enclosing: enclosing, continuation: continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      end(wait: number)
    }
    limit.cancel()
    _ = state.withLock { $0.ended.remove(number) }
  }

  private func end(wait number: UInt64) {
    let wait = state.withLock { state in
      state.ended.insert(number)
      return state.waits.removeValue(forKey: number)
    }
    wait?.continuation.resume()
  }
}
