// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// Whether the store works, and what waits for it to work again.
///
///     unopened ──opened──► working ◄──finishOldest── failing ──damaged──► damaged (for good)
///        └──────────────fail─┴──────────────────────────▲
struct StoreHealth: Sendable {
  /// What the store failed to do, and is asked to do again.
  enum Operation: Sendable {
    /// Only finds out whether the store works.
    case probe
    /// Times are those of the backend's answer.
    case acknowledge(MutationBatch, CommitResponse, at: Timestamp)
    case reject(MutationBatch, RPCStatus, at: Timestamp)
    case changeUser(String?)
    /// Opening the queue of pending writes.
    case start(String?)
    /// Views whose limit could not be refilled.
    case refill(Set<ViewID>)
    /// Dealing with what other clients of the cache have told.
    case hear
    /// Telling them what they were not told.
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
    /// Why, and what waits, oldest first: at least one operation.
    case failing(StoreError, [Operation])
    /// What the store holds is not what was stored.
    case damaged(StoreError)
  }

  private var state = State.unopened
  /// Room that was made on the disk should be noticed soon, and looking costs one transaction: 15 s at most.
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

  /// Why no write can be accepted: the queue that it belongs to is not open, or nothing is stored any more.
  var refusal: StoreError? {
    switch state {
    case .unopened, .working: nil
    case .damaged(let error): error
    case .failing(let error, let waiting):
      waiting.contains { if case .start = $0 { true } else { false } } ? error : nil
    }
  }

  /// What waits, oldest first.
  var waiting: [Operation] { if case .failing(_, let waiting) = state { waiting } else { [] } }

  // MARK: Transitions

  mutating func opened() {
    if case .unopened = state { state = .working }
  }

  /// The store could not perform an operation, which from now on waits behind those that wait already.
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

  /// An operation has to wait for its turn although the store has not been asked to perform it.
  /// - Returns: whether there is something to wait for.
  mutating func wait(with operation: Operation) -> Bool {
    guard case .failing(let error, let waiting) = state else { return false }
    state = .failing(error, waiting + [operation])
    return true
  }

  /// The oldest operation failed again.
  mutating func failAgain(_ error: StoreError) {
    if case .failing(_, let waiting) = state { state = .failing(error, waiting) }
  }

  /// The oldest operation was performed.
  /// - Returns: whether it was the last.
  mutating func finishOldest() -> Bool {
    guard case .failing(let error, let waiting) = state else { return false }
    state = waiting.count > 1 ? .failing(error, Array(waiting.dropFirst())) : .working
    return waiting.count == 1
  }

  mutating func damaged(_ error: StoreError) { state = .damaged(error) }

  // MARK: The next attempt

  /// Something was stored, so that the next failure is a new one.
  mutating func stored() { backoff.reset() }

  mutating func nextDelay(using generator: inout some RandomNumberGenerator) -> Duration {
    backoff.next(using: &generator)
  }
}
