// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
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

/// The reactions to a store that fails, works again, or turns out to be damaged.
extension SyncCore {
  /// Opens the user's queue; a store that cannot read it now is tried again, and nothing is written before that.
  package mutating func startOrRetry(user: String?) {
    do throws(StoreError) {
      try start(user: user)
    } catch {
      storeFailed(error, retrying: .start(user))
    }
  }

  /// - Parameter observer: called once, on some thread, when the store's files are found missing.
  package mutating func watchFiles(_ observer: @escaping @Sendable () -> Void) { store.watchFiles(observer) }

  /// Opens the queue after listeners have begun without it.
  private mutating func startLate(user: String?) throws(StoreError) {
    try start(user: user)
    var changes: [DocumentKey: Document] = [:]
    for key in Set(try store.pendingBatches().flatMap(\.keys)) { changes[key] = try store.document(key) }
    emit(changes, causes: [.userChanged])
  }

  /// Takes the network down and keeps the operation to be tried again.
  mutating func storeFailed(_ error: StoreError, retrying operation: StoreHealth.Operation) {
    guard health.damage == nil else { return }
    // The client that is primary now does it.
    if error.kind == .leaseLost { return resign() }
    output.statusChanged()
    network.stop(by: .storageFailed)
    stopStreams()
    changeOnlineState { $0.set(.offline) }
    if error.kind == .corrupt { return storeDamaged(error) }
    if health.fail(error, retrying: operation) { scheduleRetry() }
  }

  /// Ends the use of a cache that turned out to be damaged. The extent of the damage is unknown, so that nothing is
  /// sent or stored any more: every write, wait and listener ends with the error, and later calls fail likewise. Data
  /// that the cache still has whole can be read. The next start moves the damaged file aside.
  private mutating func storeDamaged(_ error: StoreError) {
    let status = error.status
    health.damaged(error)
    output.append(.cancel(.storeRetry))
    for entry in writes.queue.pending { output.append(.complete(entry.batch.id, .failure(status))) }
    for wait in writes.answers.takeWaits() { output.append(.finishWait(wait, status)) }
    for view in listens.views.ids {
      if let target = listens.views.target(of: view) { watching.forget(target) }
      let (ids, lookups) = listens.close(view)
      output.append(.fail(ids, status))
      for lookup in lookups { watching.forget(lookup) }
    }
  }

  // MARK: Trying again

  mutating func scheduleRetry() {
    output.append(.schedule(.storeRetry, after: health.nextDelay(using: &random)))
  }

  /// Tries the oldest operation; the next one has to wait for its own turn.
  mutating func retryOldest() {
    guard let operation = health.waiting.first else { return }
    do throws(StoreError) {
      try perform(operation)
      // A store that can be read does not necessarily have room to write: the next operation that stores something
      // tells.
      if case .probe = operation {} else { health.stored() }
      if health.finishOldest() { return storeRecovered() }
    } catch {
      if error.kind == .corrupt { return storeFailed(error, retrying: operation) }
      if error.kind == .leaseLost {
        resign()
        if health.finishOldest() { return storeRecovered() }
      }
      health.failAgain(error)
    }
    if !health.waiting.isEmpty { scheduleRetry() }
  }

  private mutating func perform(_ operation: StoreHealth.Operation) throws(StoreError) {
    switch operation {
    case .probe: _ = try store.lastRemoteSnapshotVersion()
    case .acknowledge(let batch, let response, let time): try acknowledge(batch, response, at: time)
    case .reject(let batch, let status, let time): try reject(batch, status, at: time)
    case .refill(let views): try refill(views)
    case .start(let user): try startLate(user: user)
    case .changeUser(let user): try performUserChange(to: user)
    case .hear:
      if isPrimary, sharing != nil { try adoptTargets() }
      try dealWithNews()
    case .announce: try announceEverything()
    case .takeOver: try performTakeOver()
    case .synchronise: try performSynchronisation()
    }
  }

  /// Goes online again once everything that waited is stored: before that an answer to one user's write would wait
  /// behind a change to another user, and be sought in the wrong queue.
  private mutating func storeRecovered() {
    guard network.clear(.storageFailed) else { return }
    output.statusChanged()
    restartStreams()
    if !isPrimary {
      do throws(StoreError) { try adoptOnlineState() } catch { keepTrying(.synchronise, error) }
    }
  }
}
