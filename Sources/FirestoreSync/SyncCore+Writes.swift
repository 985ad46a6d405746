// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol

extension SyncCore {
  /// Stores a write, shows it to the listeners and starts sending it.
  /// - Parameter rejected: a rejected write that it takes the place of.
  /// - Throws: if the store cannot keep it; then nothing happened.
  package mutating func write(
    _ mutations: [Mutation], at now: Timestamp, insteadOf rejected: BatchID? = nil, _ effects: inout [SyncEffect]
  ) throws(LocalStoreError) -> BatchID {
    // The queue that it belongs to is not open, or nothing more is stored at all.
    if let storeFailure, !isStarted || damage != nil { throw storeFailure }
    let result = try store.write(mutations, at: now, insteadOf: rejected)
    statusRevision += 1
    log.append(
      MutationBatch(id: result.batchID, generation: store.generation, localWriteTime: now, mutations: mutations))
    emit(result.changes, causes: [.localWrite(result.batchID)], &effects)
    fillPipeline(&effects)
    return result.batchID
  }

  /// Drops a batch that is not in flight; its overlay is undone and its write fails with `cancelled`.
  /// - Throws: `not-found` for a batch that is not pending, `failed-precondition` for one that the backend may be
  ///   applying right now, and what the store says.
  package mutating func cancelWrite(_ id: BatchID, _ effects: inout [SyncEffect]) throws(RPCStatus) {
    guard log.contains(id) else { throw RPCStatus(.notFound, "Write \(id) is not pending.") }
    guard !outbox.isInFlight(id), !isBeingRetried(id) else {
      throw RPCStatus(.failedPrecondition, "Write \(id) is in flight; go offline first to cancel it.")
    }
    let changes: [DocumentKey: Document]
    do throws(LocalStoreError) { changes = try store.reject(id) } catch { throw RPCStatus(error.code, error.message) }
    outbox.removeUnsent(id)
    finish(id, .failure(RPCStatus(.cancelled, "Write \(id) was cancelled before it was sent.")), changes, &effects)
    fillPipeline(&effects)
  }

  private func isBeingRetried(_ id: BatchID) -> Bool {
    retries.contains { retry in
      switch retry {
      case .acknowledge(let batch, _), .reject(let batch, _): batch.id == id
      default: false
      }
    }
  }

  /// Finishes the wait when everything pending now is done: at once if that is nothing.
  package mutating func waitForPendingWrites(_ wait: PendingWritesWait, _ effects: inout [SyncEffect]) {
    if let damage { return effects.append(.finishWait(wait, damage)) }
    if let highest = log.last { waits.append((highest, wait)) } else { effects.append(.finishWait(wait, nil)) }
  }

  package mutating func cancelWait(_ wait: PendingWritesWait) { waits.removeAll { $0.wait == wait } }

  // MARK: The write stream

  /// Tops the pipeline up from the queue (S4) and sees that it is sent.
  mutating func fillPipeline(_ effects: inout [SyncEffect]) {
    guard canUseNetwork else { return }
    while outbox.hasRoom, let batch = log.next(after: outbox.batches.last?.id) { outbox.append(batch) }
    if writeStream.isOpen {
      if outbox.hasUnsent {
        effects.append(.cancel(.writeIdle))
        effects.append(.wake(.write))
      } else if outbox.isEmpty {
        effects.append(.schedule(.writeIdle, after: Self.idleTimeout))
      }
    } else if !outbox.isEmpty, !writeStream.isStarted {
      let delay = writeStream.start(using: &random)
      effects.append(.open(.write, writeStream.epoch, after: delay))
      statusRevision += 1
    }
  }

  /// The handshake was answered.
  package mutating func writeStreamOpened(token: [UInt8], in epoch: StreamEpoch, _ effects: inout [SyncEffect]) {
    guard writeStream.opened(epoch) else { return }
    statusRevision += 1
    outbox.streamOpened(token: token)
    fillPipeline(&effects)
  }

  /// Takes the next batch for the stream; it is in flight from here on.
  package mutating func takeWrite(in epoch: StreamEpoch) -> (id: BatchID, request: WriteRequest)? {
    guard epoch == writeStream.epoch, writeStream.isOpen, let (batch, sent) = outbox.take() else { return nil }
    var request = sent
    request.requestID = store.requestID(of: batch)
    log.update(batch.id) { $0.attempts += 1 }
    statusRevision += 1
    return (batch.id, request)
  }

  /// The backend committed the oldest batch in flight (S4).
  package mutating func receive(
    _ response: CommitResponse, token: [UInt8], in epoch: StreamEpoch, _ effects: inout [SyncEffect]
  ) {
    guard epoch == writeStream.epoch, writeStream.isOpen else { return }
    guard let expected = outbox.batches.first, outbox.isInFlight(expected.id),
      expected.mutations.count == response.results.count
    else {
      let broken = RPCStatus(.internal, "the write stream answered \(response.results.count) writes nobody asked for")
      effects.append(.close(.write, epoch))
      return writeStreamEnded(broken, in: epoch, &effects)
    }
    writeStream.succeeded()
    guard let batch = outbox.committed(token: token) else { return }
    statusRevision += 1
    do throws(LocalStoreError) {
      try acknowledge(batch, response, &effects)
    } catch {
      storeFailed(error, retrying: .acknowledge(batch, response), &effects)
    }
    fillPipeline(&effects)
  }

  mutating func acknowledge(
    _ batch: MutationBatch, _ response: CommitResponse, _ effects: inout [SyncEffect]
  ) throws(LocalStoreError) {
    let changes = try store.acknowledge(batch.id, response)
    finish(batch.id, .success(response), changes, &effects)
  }

  mutating func reject(
    _ batch: MutationBatch, _ status: RPCStatus, _ effects: inout [SyncEffect]
  ) throws(LocalStoreError) {
    let attempts = log.attempts(of: batch.id)
    let changes = try store.reject(batch.id, Rejection(status: status, time: time, attempts: attempts))
    rejected = nil
    finish(batch.id, .failure(status), changes, &effects)
  }

  /// Signals the result, then shows it (S3).
  private mutating func finish(
    _ id: BatchID, _ result: Result<CommitResponse, RPCStatus>, _ changes: [DocumentKey: Document],
    _ effects: inout [SyncEffect]
  ) {
    statusRevision += 1
    log.remove(id)
    effects.append(.complete(id, result))
    let first = log.first
    let (done, waiting) = waits.reduce(into: ([PendingWritesWait](), [(BatchID, PendingWritesWait)]())) {
      if let first, first <= $1.highest { $0.1.append(($1.highest, $1.wait)) } else { $0.0.append($1.wait) }
    }
    waits = waiting
    for wait in done { effects.append(.finishWait(wait, nil)) }
    switch result {
    case .success: emit(changes, causes: [.acknowledged(id)], &effects)
    case .failure(let status) where status.code == .cancelled: emit(changes, causes: [.cancelled(id)], &effects)
    case .failure(let status): emit(changes, causes: [.rejected(id, status)], &effects)
    }
  }

  /// The stream ended by itself. A permanent error after the handshake is about the oldest batch in flight, which is
  /// rejected; everything else is sent again (PROTOCOL §3.1).
  mutating func writeStreamEnded(_ status: RPCStatus, in epoch: StreamEpoch, _ effects: inout [SyncEffect]) {
    guard epoch == writeStream.epoch, writeStream.isStarted else { return }
    statusRevision += 1
    let oldest = outbox.batches.first
    let isAboutOldest = oldest.map { outbox.isInFlight($0.id) } ?? false
    writeStream.failed(status)
    outbox.streamClosed()
    effects.append(.cancel(.writeIdle))
    if isAboutOldest, status.code.isPermanentForWrites, let batch = outbox.removeFirst() {
      writeStream.forgiveFailure()
      log.update(batch.id) { $0.lastError = status }
      do throws(LocalStoreError) {
        try reject(batch, status, &effects)
      } catch {
        storeFailed(error, retrying: .reject(batch, status), &effects)
      }
    } else {
      for batch in outbox.batches { log.update(batch.id) { $0.lastError = status } }
    }
    fillPipeline(&effects)
  }

  mutating func closeIdleWriteStream(_ effects: inout [SyncEffect]) {
    guard writeStream.isOpen, outbox.isEmpty else { return }
    effects.append(.close(.write, writeStream.epoch))
    writeStream.stop()
    outbox.streamClosed()
    statusRevision += 1
  }
}
