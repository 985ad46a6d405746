// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel

extension SyncCore {
  /// Uses the network again, without waiting for a backoff.
  package mutating func enableNetwork(_ effects: inout [SyncEffect]) {
    guard offlineCauses.remove(.disabledByUser) != nil else { return }
    statusRevision += 1
    restartStreams(&effects)
  }

  /// Stops both streams; every current view turns from-cache in the same step (S7).
  package mutating func disableNetwork(_ effects: inout [SyncEffect]) {
    guard offlineCauses.insert(.disabledByUser).inserted else { return }
    statusRevision += 1
    stopStreams(&effects)
    changeOnlineState(&effects, causes: [.networkDisabled]) { $0.set(.offline) }
  }

  /// Skips every backoff: of a stream that waits to be opened, and of a store that failed.
  package mutating func retryNow(_ effects: inout [SyncEffect]) {
    if watchStream.phase == .starting {
      effects.append(.close(.watch, watchStream.epoch))
      watchStream.stop(keepingError: true)
      startWatchStreamIfNeeded(&effects)
    }
    if writeStream.phase == .starting {
      effects.append(.close(.write, writeStream.epoch))
      writeStream.stop(keepingError: true)
      fillPipeline(&effects)
    }
    if !retries.isEmpty {
      effects.append(.cancel(.storeRetry))
      retryBackoff.reset()
      retryOldest(&effects)
    }
  }

  /// Switches to another user's queue. A store that fails keeps the change pending and the streams down.
  package mutating func changeUser(to user: String?, _ effects: inout [SyncEffect]) {
    if damage != nil { return }
    retries.append(.changeUser(user))
    if retries.count == 1 { retryOldest(&effects) }
  }

  private mutating func performUserChange(
    to user: String?, _ effects: inout [SyncEffect]
  ) throws(LocalStoreError) {
    statusRevision += 1
    let usedNetwork = canUseNetwork
    offlineCauses.insert(.userChanging)
    stopStreams(&effects)
    if usedNetwork { changeOnlineState(&effects) { $0.set(.unknown) } }
    if user != self.user {
      let result = try store.changeUser(to: user)
      self.user = user
      log = PendingWriteLog(try store.pendingBatches())
      rejected = nil
      let status = RPCStatus(.cancelled, "The wait for pending writes ended because the user changed.")
      for (_, wait) in waits { effects.append(.finishWait(wait, status)) }
      waits = []
      emit(result.affected, causes: [.userChanged], &effects)
    }
    offlineCauses.remove(.userChanging)
    restartStreams(&effects)
  }

  // MARK: Streams

  /// The wait before a stream's attempt is over.
  /// - Returns: whether the epoch is the current one (S8).
  mutating func streamBegan(_ kind: StreamKind, in epoch: StreamEpoch) -> Bool {
    guard epoch == (kind == .watch ? watchStream : writeStream).epoch else { return false }
    statusRevision += 1
    return true
  }

  /// Closes both streams; in-flight batches return to the queue.
  private mutating func stopStreams(_ effects: inout [SyncEffect]) {
    if watchStream.isStarted { effects.append(.close(.watch, watchStream.epoch)) }
    if writeStream.isStarted { effects.append(.close(.write, writeStream.epoch)) }
    watchStream.stop()
    writeStream.stop()
    resetWatchState()
    outbox.removeAll()
    effects.append(.cancel(.watchIdle))
    effects.append(.cancel(.writeIdle))
  }

  /// Starts what there is something to do for.
  private mutating func restartStreams(_ effects: inout [SyncEffect]) {
    guard canUseNetwork else { return }
    if plan.isEmpty {
      changeOnlineState(&effects) { $0.set(.unknown) }
    } else {
      startWatchStreamIfNeeded(&effects)
    }
    fillPipeline(&effects)
  }

  // MARK: A store that fails

  /// Takes the network down and keeps the operation to be tried again.
  mutating func storeFailed(_ error: LocalStoreError, retrying operation: Retry, _ effects: inout [SyncEffect]) {
    statusRevision += 1
    storeFailure = error
    offlineCauses.insert(.storageFailed)
    stopStreams(&effects)
    changeOnlineState(&effects) { $0.set(.offline) }
    if error.kind == .corrupt { return storeDamaged(error, &effects) }
    retries.append(operation)
    if retries.count == 1 { scheduleRetry(&effects) }
  }

  /// Opens the user's queue; a store that cannot read it now is tried again, and nothing is written before that.
  package mutating func startOrRetry(user: String?, _ effects: inout [SyncEffect]) {
    do throws(LocalStoreError) {
      try start(user: user, &effects)
    } catch {
      storeFailed(error, retrying: .start(user), &effects)
    }
  }

  /// Opens the queue after listeners have begun without it.
  private mutating func startLate(user: String?, _ effects: inout [SyncEffect]) throws(LocalStoreError) {
    try start(user: user, &effects)
    var changes: [DocumentKey: Document] = [:]
    for key in Set(try store.pendingBatches().flatMap(\.keys)) { changes[key] = try store.document(key) }
    emit(changes, causes: [.userChanged], &effects)
  }

  private mutating func scheduleRetry(_ effects: inout [SyncEffect]) {
    effects.append(.schedule(.storeRetry, after: retryBackoff.next(using: &random)))
  }

  /// Tries the oldest operation; the next one has to wait for its own turn.
  mutating func retryOldest(_ effects: inout [SyncEffect]) {
    guard let operation = retries.first else { return }
    do throws(LocalStoreError) {
      try perform(operation, &effects)
      // Damage that was met on the way has ended all retries.
      if damage != nil { return }
      retries.removeFirst()
      // That the store can be read does not say that there is room to write: the next thing stored does.
      if case .probe = operation {} else { retryBackoff.reset() }
      if retries.isEmpty { storeRecovered(&effects) }
    } catch {
      if error.kind == .corrupt { return storeFailed(error, retrying: operation, &effects) }
      // The operation stays at the head of the queue and is tried again.
      storeFailure = error
    }
    if !retries.isEmpty { scheduleRetry(&effects) }
  }

  private mutating func perform(_ operation: Retry, _ effects: inout [SyncEffect]) throws(LocalStoreError) {
    switch operation {
    case .probe: _ = try store.lastRemoteSnapshotVersion()
    case .acknowledge(let batch, let response): try acknowledge(batch, response, &effects)
    case .reject(let batch, let status): try reject(batch, status, &effects)
    case .refill(let views): try refill(views, &effects)
    case .start(let user): try startLate(user: user, &effects)
    case .changeUser(let user): try performUserChange(to: user, &effects)
    }
  }

  /// Everything that waited is stored: only now may the backend answer again, or an answer to one user's write would wait
  /// behind a change to another, and be sought in the wrong queue.
  private mutating func storeRecovered(_ effects: inout [SyncEffect]) {
    storeFailure = nil
    guard offlineCauses.remove(.storageFailed) != nil else { return }
    statusRevision += 1
    restartStreams(&effects)
  }
}
