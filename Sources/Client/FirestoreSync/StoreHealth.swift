// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The health of the store: whether the store works, and which operations are waiting until it works again.
///
///     unopened ──opened──► working ◄──finishOldest── failing ──damaged──► damaged (for good)
///        └──────────────fail─┴──────────────────────────▲
struct StoreHealth: Sendable {
  /// An operation that the store failed to perform and that will be repeated.
  enum Operation: Sendable {
    /// No operation. Only checks whether the store works.
    case probe
    /// Storing an acknowledgement, with the time of the backend's answer.
    case acknowledge(MutationBatch, CommitResponse, at: Timestamp)
    case reject(MutationBatch, RPCStatus, at: Timestamp)
    case changeUser(String?)
    /// Opening the queue of pending writes.
    case start(String?)
    /// Filling views up to their limits again.
    case refill(Set<ViewID>)
    /// Processing other clients' notices in a shared cache.
    case hear
    /// Repeating all announcements to the other clients, after an announcement failed.
    case announce
    case takeOver
    /// Updating the views with the data that other clients have stored.
    case synchronise

    /// The batch whose answer the operation stores; `nil` if the operation stores no answer.
    var batch: BatchID? {
      switch self {
      case .acknowledge(let batch, _, _), .reject(let batch, _, _): batch.id
      case .probe, .changeUser, .start, .refill, .hear, .announce, .takeOver, .synchronise: nil
      }
    }
  }

  private enum State: Sendable {
    /// The store has not read the user's queue yet.
    case unopened
    case working
    /// The store fails with this error. At least one operation is waiting. The operations are ordered from oldest to
    /// newest.
    case failing(StoreError, [Operation])
    /// The database is damaged: it returned data that differs from the data that was stored.
    case damaged(StoreError)
  }

  private var state = State.unopened
  /// The delays between attempts. They are at most 15 s, including jitter. They are short for two reasons: an attempt
  /// costs only one transaction, and the client should soon detect that disk space is available again.
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

  /// The reason why the client cannot accept writes: the queue is not open, or the store is damaged. `nil` if the
  /// client can accept writes.
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

  /// Queues an operation that the store could not perform, after the operations that are already waiting.
  /// - Returns: whether the operation is the first in the queue, so that a retry must be scheduled.
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

  /// Queues an operation without trying it, but only if other operations are already waiting.
  /// - Returns: whether the operation was queued.
  mutating func wait(with operation: Operation) -> Bool {
    guard case .failing(let error, let waiting) = state else { return false }
    state = .failing(error, waiting + [operation])
    return true
  }

  /// Records that the oldest operation failed again.
  mutating func failAgain(_ error: StoreError) {
    if case .failing(_, let waiting) = state { state = .failing(error, waiting) }
  }

  /// Removes the oldest operation, which has succeeded.
  /// - Returns: whether this was the last waiting operation.
  mutating func finishOldest() -> Bool {
    guard case .failing(let error, let waiting) = state else { return false }
    state = waiting.count > 1 ? .failing(error, Array(waiting.dropFirst())) : .working
    return waiting.count == 1
  }

  mutating func damaged(_ error: StoreError) { state = .damaged(error) }

  // MARK: The next attempt

  /// Records a successful transaction. After the next failure, the delays start again from the shortest one.
  mutating func stored() { backoff.reset() }

  mutating func nextDelay(using generator: inout some RandomNumberGenerator) -> Duration {
    backoff.next(using: &generator)
  }
}

/// The client's reactions to a store that fails, recovers or is damaged.
extension SyncCore {
  /// Opens the user's queue. If the store cannot read the queue, the client tries again later. It accepts no writes
  /// until an attempt succeeds.
  package mutating func startOrRetry(user: String?) {
    do throws(StoreError) {
      try start(user: user)
    } catch {
      storeFailed(error, retrying: .start(user))
    }
  }

  /// - Parameter observer: called once, on any thread, when the store's files are missing.
  package mutating func watchFiles(_ observer: @escaping @Sendable () -> Void) { store.watchFiles(observer) }

  /// Opens the queue after an earlier attempt failed. Listeners may have started before the queue was open.
  private mutating func startLate(user: String?) throws(StoreError) {
    try start(user: user)
    var changes: [DocumentKey: Document] = [:]
    for key in Set(try store.pendingBatches().flatMap(\.keys)) { changes[key] = try store.document(key) }
    emit(changes, causes: [.userChanged])
  }

  /// Stops using the network, and queues the operation for another attempt.
  mutating func storeFailed(_ error: StoreError, retrying operation: StoreHealth.Operation) {
    guard health.damage == nil else { return }
    // The new primary client performs the operation instead.
    if error.kind == .leaseLost { return resign() }
    output.statusChanged()
    network.stop(by: .storageFailed)
    stopStreams()
    changeOnlineState { $0.set(.offline) }
    if error.kind == .corrupt { return storeDamaged(error) }
    if health.fail(error, retrying: operation) { scheduleRetry() }
  }

  /// Stops using a damaged cache. The extent of the damage is unknown, so nothing is sent or stored any more. Every
  /// write, wait and listener ends with the error, and later calls fail with the same error. Intact data in the cache
  /// can still be read. The next start moves the damaged file aside.
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

  /// Repeats the oldest operation. The following operation waits for the next attempt.
  mutating func retryOldest() {
    guard let operation = health.waiting.first else { return }
    do throws(StoreError) {
      try perform(operation)
      // A successful read does not prove that the store can write. Only an operation that stores something resets the
      // delays.
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

  /// Uses the network again when all waiting operations have succeeded. If the client did so earlier, the answer to one
  /// user's write could still be waiting when the user changes. The client would then search the wrong user's queue for
  /// the write.
  private mutating func storeRecovered() {
    guard network.clear(.storageFailed) else { return }
    output.statusChanged()
    restartStreams()
    if !isPrimary {
      do throws(StoreError) { try adoptOnlineState() } catch { keepTrying(.synchronise, error) }
    }
  }
}
