// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite

extension SyncCore {
  /// Uses the network again, without a backoff delay.
  package mutating func enableNetwork() {
    guard network.clear(.disabledByUser) else { return }
    output.statusChanged()
    restartStreams()
    leaseConditionsChanged()
  }

  /// Closes both streams. In the same step, every view that was in sync changes to from-cache (S7).
  package mutating func disableNetwork() {
    guard network.stop(by: .disabledByUser) else { return }
    output.statusChanged()
    stopStreams()
    // Only for the primary client. A secondary client adopts the online state of the primary one.
    if isPrimary { changeOnlineState(causes: [.networkDisabled]) { $0.set(.offline) } }
    leaseConditionsChanged()
  }

  /// Ends every backoff, so that waiting streams are opened immediately and a failed store is tried again.
  package mutating func retryNow() {
    if watchStream.phase == .starting {
      output.append(watching.skipBackoff())
      startWatchStreamIfNeeded()
    }
    if writeStream.phase == .starting {
      output.append(writes.skipBackoff())
      sendWrites()
    }
    if !health.waiting.isEmpty {
      output.append(.cancel(.storeRetry))
      health.stored()
      retryOldest()
    }
  }

  /// Switches to another user's queue. If the store fails, the switch waits until the store works, and the streams
  /// remain closed.
  package mutating func changeUser(to user: String?) {
    if health.damage != nil || health.wait(with: .changeUser(user)) { return }
    do throws(StoreError) {
      try performUserChange(to: user)
      health.stored()
    } catch {
      if error.kind == .corrupt { return storeFailed(error, retrying: .changeUser(user)) }
      if health.fail(error, retrying: .changeUser(user)) { scheduleRetry() }
    }
  }

  mutating func performUserChange(
    to user: String?
  ) throws(StoreError) {
    output.statusChanged()
    let usedNetwork = network.isUsed
    network.stop(by: .userChanging)
    stopStreams()
    if usedNetwork { changeOnlineState { $0.set(.unknown) } }
    if user != writes.user {
      let result = try store.changeUser(to: user)
      let waits = writes.changeUser(to: user, with: result.addedBatches)
      let status = RPCStatus(.cancelled, "The wait for pending writes ended because the user changed.")
      for wait in waits { output.append(.finishWait(wait, status)) }
      emit(result.affected, causes: [.userChanged])
      // The deadlines of this user's writes may have passed meanwhile.
      if !writes.deadlines.isEmpty { output.append(.schedule(.writeDeadline, after: .zero)) }
    }
    network.clear(.userChanging)
    restartStreams()
  }

  // MARK: Streams

  /// Handles the end of the delay before an attempt to open a stream.
  /// - Returns: whether the epoch is the current one (S8).
  mutating func streamBegan(_ kind: StreamKind, in epoch: StreamEpoch) -> Bool {
    guard epoch == (kind == .watch ? watchStream : writeStream).epoch else { return false }
    output.statusChanged()
    return true
  }

  /// Closes both streams; batches in flight return to the queue.
  mutating func stopStreams() {
    network.forgetFailure()
    output.append(watching.stop())
    output.append(writes.stop())
    output.append(.cancel(.watchIdle))
    output.append(.cancel(.writeIdle))
  }

  /// Starts the streams that have work to do.
  mutating func restartStreams() {
    guard network.isUsed else { return }
    if watching.plan.isEmpty {
      changeOnlineState { $0.set(.unknown) }
    } else {
      startWatchStreamIfNeeded()
    }
    sendWrites()
  }
}
