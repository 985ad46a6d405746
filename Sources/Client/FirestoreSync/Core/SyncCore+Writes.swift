// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSQLite

extension SyncCore {
  /// Stores a write, shows it to the listeners and starts sending it.
  /// - Parameter rejected: a rejected write that this write replaces.
  /// - Throws: the store's error if it cannot keep the write; then nothing happened.
  package mutating func write(
    _ mutations: [Mutation], at now: Timestamp, insteadOf rejected: BatchID? = nil
  ) throws(StoreError) -> BatchID {
    if let refusal = health.refusal { throw refusal }
    let result = try store.write(mutations, at: now, insteadOf: rejected, after: writes.newest)
    statusRevision += 1
    for batch in result.others where writes.isNew(batch.id) { writes.append(batch) }
    writes.append(
      MutationBatch(id: result.batchID, generation: store.generation, localWriteTime: now, mutations: mutations))
    emit(result.changes, causes: [.localWrite(result.batchID)])
    sendWrites()
    return result.batchID
  }

  /// Drops a batch that is not in flight; its overlay is undone and its write fails with `cancelled`.
  /// - Returns: whether the batch is dropped. Otherwise another client of the cache, which has the streams, was asked
  ///   to drop it: its answer is the write's completion, or the effect `refuseCancellation`.
  /// - Throws: `not-found` for a batch that is not pending, `failed-precondition` for one that the backend may be
  ///   applying right now, and errors of the store.
  @discardableResult
  package mutating func cancelWrite(_ id: BatchID) throws(RPCStatus) -> Bool {
    if let objection = objectionToCancelling(id) { throw objection }
    do throws(StoreError) {
      if isPrimary {
        try takeBack(id)
        sendWrites()
      } else {
        try store.askToCancel(id)
        cancellations.insert(id)
      }
    } catch { throw error.status }
    return isPrimary
  }

  private func objectionToCancelling(_ id: BatchID) -> RPCStatus? {
    if !writes.contains(id) { return RPCStatus(.notFound, "Write \(id) is not pending.") }
    guard writes.isInFlight(id) || health.waiting.contains(where: { $0.batch == id }) else { return nil }
    return RPCStatus(.failedPrecondition, "Write \(id) is in flight; go offline first to cancel it.")
  }

  private mutating func takeBack(_ id: BatchID) throws(StoreError) {
    let changes = try store.reject(id)
    finish(id, .failure(RPCStatus(.cancelled, "Write \(id) was cancelled before it was sent.")), at: nil, changes)
  }

  /// Takes a write back, or refuses to, for another client of the cache.
  mutating func answerCancellation(_ id: BatchID) throws(StoreError) {
    if let objection = objectionToCancelling(id) {
      try store.refuseCancellation(of: id, objection)
    } else {
      try takeBack(id)
    }
  }

  /// Repeats the requests to drop a write that were not answered: another client may have the streams now.
  mutating func askAgainToCancel() throws(StoreError) {
    for id in cancellations.sorted() where objectionToCancelling(id) == nil {
      if isPrimary { try takeBack(id) } else { try store.askToCancel(id) }
    }
  }

  /// Finishes the wait when all writes pending now are done: at once if there are none.
  package mutating func waitForPendingWrites(_ wait: PendingWritesWait) {
    if let damage = health.damage { return effects.append(.finishWait(wait, damage)) }
    if let highest = writes.last { waits.add(wait, until: highest) } else { effects.append(.finishWait(wait, nil)) }
  }

  // MARK: The write stream

  /// Sees that waiting batches are sent, in order (S4).
  mutating func sendWrites() {
    guard canUseNetwork else { return }
    if writeStream.isOpen {
      if writes.hasUnsent {
        effects.append(.cancel(.writeIdle))
        effects.append(.wake(.write))
      } else if writes.isEmpty {
        effects.append(.schedule(.writeIdle, after: Self.idleTimeout))
      }
    } else if !writes.isEmpty, !writeStream.isStarted {
      let delay = writeStream.start(using: &random)
      effects.append(.open(.write, writeStream.epoch, after: delay))
      statusRevision += 1
    }
  }

  /// The number of batches that are in flight or would be sent next: none while the network is not used.
  package var outstandingWrites: Int { canUseNetwork ? min(writes.count, PendingWrites.capacity) : 0 }

  /// Begins to send, because the handshake was answered.
  package mutating func writeStreamOpened(token: [UInt8], in epoch: StreamEpoch) {
    guard writeStream.opened(epoch) else { return }
    statusRevision += 1
    network.forgetFailure()
    writes.streamOpened(token: token)
    sendWrites()
  }

  /// Takes the next batch for the stream; it is in flight from here on.
  package mutating func takeWrite(in epoch: StreamEpoch, at now: Timestamp) -> (id: BatchID, request: WriteRequest)? {
    guard epoch == writeStream.epoch, writeStream.isOpen, let (batch, sent) = writes.take(at: now) else { return nil }
    var request = sent
    request.requestID = store.requestID(of: batch)
    statusRevision += 1
    return (batch.id, request)
  }

  /// Deals with the answer that the backend committed the oldest batch in flight (S4).
  package mutating func receive(
    _ response: CommitResponse, token: [UInt8], in epoch: StreamEpoch, at now: Timestamp
  ) {
    guard epoch == writeStream.epoch, writeStream.isOpen else { return }
    guard let batch = writes.oldestInFlight, batch.mutations.count == response.results.count else {
      let broken = RPCStatus(.internal, "the write stream answered \(response.results.count) writes nobody asked for")
      effects.append(.close(.write, epoch))
      return writeStreamEnded(broken, in: epoch, at: now)
    }
    writeStream.succeeded()
    writes.answered(token: token)
    statusRevision += 1
    do throws(StoreError) {
      try acknowledge(batch, response, at: now)
    } catch {
      storeFailed(error, retrying: .acknowledge(batch, response, at: now))
    }
    sendWrites()
  }

  mutating func acknowledge(
    _ batch: MutationBatch, _ response: CommitResponse, at time: Timestamp
  ) throws(StoreError) {
    let changes = try store.acknowledge(batch.id, response)
    finish(batch.id, .success(response), at: time, changes)
  }

  mutating func reject(_ batch: MutationBatch, _ status: RPCStatus, at time: Timestamp) throws(StoreError) {
    let attempts = writes.attempts(of: batch.id)
    let changes = try store.reject(batch.id, Rejection(status: status, time: time, attempts: attempts))
    rejected = nil
    finish(batch.id, .failure(status), at: time, changes)
  }

  /// Signals the result, then shows it (S3).
  /// - Parameter time: the time of the backend's answer; `nil` for a write that the user took back, or another client
  ///   sent.
  mutating func finish(
    _ id: BatchID, _ result: Result<CommitResponse, RPCStatus>, at time: Timestamp?, _ changes: [DocumentKey: Document]
  ) {
    statusRevision += 1
    cancellations.remove(id)
    let entry = writes.remove(id)
    // A batch that another client sent may have been dealt with before.
    if entry == nil, sharing != nil { return emit(changes, causes: []) }
    history.add(id, result, after: time.flatMap { time in entry?.sentAt.map { time - $0 } })
    effects.append(.complete(id, result))
    for wait in waits.takeDone(before: writes.first) { effects.append(.finishWait(wait, nil)) }
    switch result {
    case .success: emit(changes, causes: [.acknowledged(id)])
    case .failure(let status) where status.code == .cancelled: emit(changes, causes: [.cancelled(id)])
    case .failure(let status): emit(changes, causes: [.rejected(id, status)])
    }
  }

  /// Deals with a stream that ended by itself. A permanent error after the handshake is about the oldest batch in
  /// flight, which is rejected; everything else is sent again (PROTOCOL §3.1).
  mutating func writeStreamEnded(_ status: RPCStatus, in epoch: StreamEpoch, at now: Timestamp) {
    guard epoch == writeStream.epoch, writeStream.isStarted else { return }
    statusRevision += 1
    let oldest = writes.oldestInFlight
    if !writeStream.isOpen { network.failed(status) }
    writeStream.failed(status)
    writes.streamClosed()
    effects.append(.cancel(.writeIdle))
    if let oldest, status.code.isPermanentForWrites {
      writeStream.forgiveFailure()
      writes.note(status, of: oldest.id)
      do throws(StoreError) {
        try reject(oldest, status, at: now)
      } catch {
        storeFailed(error, retrying: .reject(oldest, status, at: now))
      }
    } else {
      writes.note(status)
    }
    sendWrites()
  }

  mutating func closeIdleWriteStream() {
    guard writeStream.isOpen, writes.isEmpty else { return }
    effects.append(.close(.write, writeStream.epoch))
    writeStream.stop()
    writes.streamClosed()
    statusRevision += 1
  }
}
