// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The health of the store: whether it works, and the operations that wait for it to work again.
///
///     unopened ──opened──► working ◄──finishOldest── failing ──damaged──► damaged (for good)
///        └──────────────fail─┴──────────────────────────▲
struct StoreHealth: Sendable {
  /// An operation that the store failed to perform, to be tried again.
  enum Operation: Sendable {
    /// Only finds out whether the store works.
    case probe
    /// An acknowledgement; the time is that of the backend's answer.
    case acknowledge(MutationBatch, CommitResponse, at: Timestamp)
    case reject(MutationBatch, RPCStatus, at: Timestamp)
    case changeUser(String?)
    /// Opening the queue of pending writes.
    case start(String?)
    /// Filling views up to their limits again.
    case refill(Set<ViewID>)
    /// Dealing with the notices of other clients of the cache.
    case hear
    /// Announcing to the other clients what could not be announced.
    case announce
    case takeOver
    /// Making the views agree with what other clients have stored.
    case synchronise

    /// The batch whose answer waits to be stored.
    var batch: BatchID? {
      switch self {
      case .acknowledge(let batch, _, _), .reject(let batch, _, _): batch.id
      case .probe, .changeUser, .start, .refill, .hear, .announce, .takeOver, .synchronise: nil
      }
    }
  }

  private enum State: Sendable {
    /// The user's queue has not been read yet.
    case unopened
    case working
    /// The error, and the waiting operations, oldest first: at least one.
    case failing(StoreError, [Operation])
    /// The store's data is not the data that was stored.
    case damaged(StoreError)
  }

  private var state = State.unopened
  /// The waits between attempts. Room that was made on the disk should be noticed soon, and looking costs one
  /// transaction: 15 s at most.
  private var backoff = Backoff(longest: .seconds(10))

  var failure: StoreError? {
    switch state {
    case .unopened, .working: nil
    case .failing(let error, _), .damaged(let error): error
    }
  }

  var damage: RPCStatus? {
    if case .damaged(let error) = state { error.status } else { nil }
  }

  /// The reason why no write can be accepted: its queue is not open, or nothing is stored any more.
  var refusal: StoreError? {
    switch state {
    case .unopened, .working: nil
    case .damaged(let error): error
    case .failing(let error, let waiting):
      waiting.contains { if case .start = $0 { true } else { false } } ? error : nil
    }
  }

  /// The waiting operations, oldest first.
  var waiting: [Operation] { if case .failing(_, let waiting) = state { waiting } else { [] } }

  // MARK: Transitions

  mutating func opened() {
    if case .unopened = state { state = .working }
  }

  /// Keeps an operation that the store could not perform, behind those that wait already.
  /// - Returns: whether it is the first, so that a retry has to be scheduled.
  mutating func fail(_ error: StoreError, retrying operation: Operation) -> Bool {
    switch state {
    case .damaged: return false
    case .unopened, .working:
      state = .failing(error, [operation])
      return true
    case .failing(_, let waiting):
      state = .failing(error, waiting + [operation])
      return false
    }
  }

  /// Keeps an operation that has to wait for its turn although the store has not been asked to perform it.
  /// - Returns: whether it has to wait.
  mutating func wait(with operation: Operation) -> Bool {
    guard case .failing(let error, let waiting) = state else { return false }
    state = .failing(error, waiting + [operation])
    return true
  }

  /// Notes that the oldest operation failed again.
  mutating func failAgain(_ error: StoreError) {
    if case .failing(_, let waiting) = state { state = .failing(error, waiting) }
  }

  /// Removes the oldest operation, which was performed.
  /// - Returns: whether it was the last.
  mutating func finishOldest() -> Bool {
    guard case .failing(let error, let waiting) = state else { return false }
    state = waiting.count > 1 ? .failing(error, Array(waiting.dropFirst())) : .working
    return waiting.count == 1
  }

  mutating func damaged(_ error: StoreError) { state = .damaged(error) }

  // MARK: The next attempt

  /// Notes that something was stored, so that the next failure is a new one.
  mutating func stored() { backoff.reset() }

  mutating func nextDelay(using generator: inout some RandomNumberGenerator) -> Duration {
    backoff.next(using: &generator)
  }
}
