// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSQLite

extension SyncCore {
  /// Stores a write, shows it to the listeners and starts sending it.
  /// - Parameter rejected: a rejected write that this write replaces.
  /// - Throws: the store's error if the store cannot store the write. In this case nothing changes.
  package mutating func write(
    _ mutations: [Mutation], at now: Timestamp, insteadOf rejected: BatchID? = nil
  ) throws(StoreError) -> BatchID {
    if let refusal = health.refusal { throw refusal }
    let result = try store.write(
      mutations.map(\.truncatingTimestamps), at: now, insteadOf: rejected, after: writes.queue.newest)
    output.statusChanged()
    writes.appendNew(result.others)
    writes.append(result.batch)
    emit(result.changes, causes: [.localWrite(result.batchID)])
    sendWrites()
    return result.batchID
  }

  /// Drops a batch that is not in flight. The batch's local effect is undone, and its write fails with `cancelled`.
  /// - Returns: whether the batch was dropped. If not, this client has requested that the client with the streams drop
  ///   it. The answer arrives as the write's completion, or as the effect `refuseCancellation`.
  /// - Throws: `not-found` if the batch is not pending; `failed-precondition` if the backend may already be applying
  ///   it; errors of the store.
  @discardableResult
  package mutating func cancelWrite(_ id: BatchID) throws(RPCStatus) -> Bool {
    if let objection = objectionToCancelling(id) { throw objection }
    do throws(StoreError) {
      if isPrimary {
        try takeBack(id)
        sendWrites()
      } else {
        try store.askToCancel(id)
        writes.answers.cancellationAsked(of: id)
      }
    } catch { throw error.status }
    return isPrimary
  }

  func objectionToCancelling(_ id: BatchID) -> RPCStatus? {
    if !writes.queue.contains(id) { return RPCStatus(.notFound, "Write \(id) is not pending.") }
    guard writes.queue.isInFlight(id) || health.waiting.contains(where: { $0.batch == id }) else { return nil }
    return RPCStatus(.failedPrecondition, "Write \(id) is in flight. Go offline first to cancel it.")
  }

  /// - Parameter status: the reason for the cancellation; `nil` if the user canceled the write.
  mutating func takeBack(_ id: BatchID, _ status: RPCStatus? = nil) throws(StoreError) {
    let changes = try store.reject(id)
    let cancelled = RPCStatus(.cancelled, "Write \(id) was canceled before it was sent.")
    finish(id, .failure(status ?? cancelled), at: nil, changes)
  }

  /// Cancels a write on behalf of another client of the cache, or refuses to cancel it.
  mutating func answerCancellation(_ id: BatchID) throws(StoreError) {
    if let objection = objectionToCancelling(id) {
      try store.refuseCancellation(of: id, objection)
    } else {
      try takeBack(id)
    }
  }

  /// Repeats the cancellation requests that were not answered, because another client may now run the streams.
  mutating func askAgainToCancel() throws(StoreError) {
    for id in writes.answers.awaitedCancellations where objectionToCancelling(id) == nil {
      if isPrimary { try takeBack(id) } else { try store.askToCancel(id) }
    }
  }

  /// Ends the wait when all writes that are pending at the time of the call have been answered. If no write is pending,
  /// ends it immediately.
  package mutating func waitForPendingWrites(_ wait: PendingWritesWait) {
    if let damage = health.damage { return output.append(.finishWait(wait, damage)) }
    if !writes.add(wait) { output.append(.finishWait(wait, nil)) }
  }

  // MARK: The write stream

  /// Starts sending waiting batches, in order (S4).
  mutating func sendWrites() {
    guard network.isUsed else { return }
    if writes.isDue {
      output.append(writes.start(using: &random))
      output.statusChanged()
    } else {
      output.append(writes.prompt)
    }
  }

  /// The number of batches that are in flight or will be sent next; 0 while the client does not use the network.
  package var outstandingWrites: Int { network.isUsed ? min(writes.queue.count, PendingWrites.capacity) : 0 }

  /// Starts sending batches after the backend has answered the handshake.
  package mutating func writeStreamOpened(token: [UInt8], in epoch: StreamEpoch) {
    guard writes.opened(token: token, in: epoch) else { return }
    output.statusChanged()
    network.forgetFailure()
    sendWrites()
  }

  /// Returns the next batch for the stream, and marks it as in flight.
  package mutating func takeWrite(in epoch: StreamEpoch, at now: Timestamp) -> (id: BatchID, request: WriteRequest)? {
    guard let (batch, sent) = writes.take(in: epoch, at: now) else { return nil }
    var request = sent
    request.requestID = store.requestID(of: batch)
    output.statusChanged()
    return (batch.id, request)
  }

  /// Handles the acknowledgement of the oldest batch in flight (S4).
  package mutating func receive(
    _ response: CommitResponse, token: [UInt8], in epoch: StreamEpoch, at now: Timestamp
  ) {
    guard writes.isOpen(in: epoch) else { return }
    guard let batch = writes.answered(response, token: token) else {
      let broken = RPCStatus(.internal, "the write stream answered \(response.results.count) writes that were not sent")
      output.append(.close(.write, epoch))
      return writeStreamEnded(broken, in: epoch, at: now)
    }
    output.statusChanged()
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
    let changes = try store.acknowledge(batch.id, response, of: batch)
    finish(batch.id, .success(response), at: time, changes)
  }

  mutating func reject(_ batch: MutationBatch, _ status: RPCStatus, at time: Timestamp) throws(StoreError) {
    let attempts = writes.queue.attempts(of: batch.id)
    let changes = try store.reject(batch.id, Rejection(status: status, time: time, attempts: attempts))
    writes.answers.rejectedWritesChanged()
    finish(batch.id, .failure(status), at: time, changes)
  }

  /// Reports the result of a write, and then shows the result to listeners (S3).
  /// - Parameter time: the time of the backend's answer; `nil` if the user canceled the write, or if another client
  ///   sent it.
  mutating func finish(
    _ id: BatchID, _ result: Result<CommitResponse, RPCStatus>, at time: Timestamp?, _ changes: [DocumentKey: Document]
  ) {
    output.statusChanged()
    let result = writes.deadlines.ended(id, result)
    // Ignores a batch that another client sent and that was already processed.
    guard let waits = writes.finish(id, result, at: time, isShared: sharing != nil) else {
      return emit(changes, causes: [])
    }
    output.append(.complete(id, result))
    for wait in waits { output.append(.finishWait(wait, nil)) }
    switch result {
    case .success: emit(changes, causes: [.acknowledged(id)])
    case .failure(let status) where status.endsWriteHere: emit(changes, causes: [.cancelled(id)])
    case .failure(let status): emit(changes, causes: [.rejected(id, status)])
    }
  }

  /// Handles the end of a stream that the backend or the transport has ended. If the error concerns the oldest batch in
  /// flight, rejects this batch. All other batches are sent again.
  mutating func writeStreamEnded(_ status: RPCStatus, in epoch: StreamEpoch, at now: Timestamp) {
    guard let end = writes.failed(status, in: epoch) else { return }
    output.statusChanged()
    if !end.wasOpen { network.failed(status) }
    output.append(.cancel(.writeIdle))
    if let refused = end.refused {
      do throws(StoreError) {
        try reject(refused, status, at: now)
      } catch {
        storeFailed(error, retrying: .reject(refused, status, at: now))
      }
    }
    sendWrites()
  }

  mutating func closeIdleWriteStream() {
    guard writes.isIdle else { return }
    output.append(writes.stop())
    output.statusChanged()
  }
}

extension SyncCore {
  /// The current user's rejected writes, in the order of their creation.
  package mutating func rejectedWrites() throws(StoreError) -> [RejectedWrite] {
    if let rejected = writes.answers.rejected { return rejected }
    let rejected = try store.rejectedWrites()
    writes.answers.rejectedWritesRead(rejected)
    return rejected
  }

  /// Adds a rejected write to the end of the queue, and removes it from the rejected writes in the same transaction.
  /// - Parameter mutations: the mutations to write instead of the rejected ones.
  /// - Returns: the write's new number.
  /// - Throws: `not-found` if no rejected write has this number, and errors of the store.
  package mutating func resend(
    _ id: BatchID, as mutations: [Mutation]?, at now: Timestamp
  ) throws(RPCStatus) -> BatchID {
    let batch: BatchID?
    do throws(StoreError) {
      let found = try rejectedWrites().first { $0.id == id }
      batch = try found.map { write throws(StoreError) in
        try self.write(mutations ?? write.mutations, at: now, insteadOf: id)
      }
    } catch {
      throw error.status
    }
    guard let batch else { throw Self.notRejected(id) }
    writes.answers.rejectedWriteLeft(id)
    return batch
  }

  /// Drops a rejected write.
  /// - Throws: `not-found` if no rejected write has this number, and errors of the store.
  package mutating func dropRejectedWrite(_ id: BatchID) throws(RPCStatus) {
    let wasThere: Bool
    do throws(StoreError) {
      wasThere = try store.dropRejectedWrite(id)
    } catch {
      throw error.status
    }
    guard wasThere else { throw Self.notRejected(id) }
    writes.answers.rejectedWriteLeft(id)
    output.statusChanged()
  }

  /// - Returns: the number of dropped writes.
  package mutating func dropAllRejectedWrites() throws(StoreError) -> Int {
    let count = try store.dropAllRejectedWrites()
    writes.answers.rejectedWritesRead([])
    output.statusChanged()
    return count
  }

  private static func notRejected(_ id: BatchID) -> RPCStatus {
    RPCStatus(.notFound, "Write \(id) is not a rejected write. It was sent again or dropped.")
  }
}
