// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSQLite

extension LocalStore {
  /// Queues mutations as one batch.
  /// - Parameters:
  ///   - rejected: a rejected write that the batch takes the place of; it is gone in the same transaction.
  ///   - last: the newest batch of the user that the caller knows of, whether or not it still waits.
  /// - Returns: the batch's number and the local views of all documents it names.
  package mutating func write(
    _ mutations: [Mutation], at localWriteTime: Timestamp, insteadOf rejected: BatchID? = nil,
    after last: BatchID? = nil
  ) throws(StoreError) -> LocalWriteResult {
    try check(.writeLocally)
    try database.openFiles?.check()
    let database = database
    let user = user
    let documents = localDocuments
    let result = try database.transaction { () throws(StoreError) in
      if let rejected { _ = try database.rejectedWrites.remove(rejected, of: user) }
      var before: [DocumentKey: LocalDocuments.Progress] = [:]
      for mutation in mutations where before[mutation.key] == nil {
        before[mutation.key] = try documents.progress(mutation.key)
      }
      let base = mutations.compactMap { mutation in
        before[mutation.key].flatMap { mutation.baseMutation(for: $0.view) }
      }
      let batch = try database.mutations.add(
        mutations, base: base, in: database.generation, at: localWriteTime, for: user)
      let changes = try documents.add(batch, to: before)
      var result = LocalWriteResult(batchID: batch.id, changes: changes)
      if let sharing = database.sharing {
        sharing.batchWasAdded()
        try sharing.tell(.batchAdded(batch.id), of: user)
        if rejected != nil { try sharing.tell(.rejectedWrites, of: user) }
        if !sharing.isAlone { result.others = try database.mutations.batches(of: user, after: last, before: batch.id) }
      }
      return result
    }
    queue.batchAdded()
    return result
  }

  /// Removes an acknowledged batch and advances its documents to their committed state.
  /// - Parameter response: one result per mutation of the batch.
  /// - Returns: the local views of the batch's documents; empty if the batch is not in the queue.
  package mutating func acknowledge(
    _ id: BatchID, _ response: CommitResponse
  ) throws(StoreError) -> [DocumentKey: Document] {
    try check(.acknowledgeBatch)
    return try settle(id, .committed(response))
  }

  /// Removes a batch that will not be committed, which restores the views as if it had not been written.
  /// - Parameter rejection: what the backend said, with which the batch goes to the rejected writes; `nil` for a batch
  ///   that the user takes back, which leaves no trace.
  /// - Returns: the local views of the batch's documents; empty if the batch is not in the queue.
  package mutating func reject(
    _ id: BatchID, _ rejection: Rejection? = nil
  ) throws(StoreError) -> [DocumentKey: Document] {
    try check(.rejectBatch)
    return try settle(id, .refused(rejection))
  }

  private enum Answer {
    case committed(CommitResponse)
    case refused(Rejection?)
  }

  private mutating func settle(
    _ id: BatchID, _ answer: Answer
  ) throws(StoreError) -> [DocumentKey: Document] {
    let database = database
    let user = user
    let documents = localDocuments
    let collector = eagerGarbageCollector
    let views = try database.transaction { () throws(StoreError) -> [DocumentKey: Document]? in
      try database.sharing?.requireLease()
      guard let batch = try database.mutations.batch(id, of: user) else { return nil }
      try database.mutations.remove(batch, of: user)
      try database.sharing?.batchWasRemoved()
      var response: CommitResponse?
      switch answer {
      case .committed(let committed): response = committed
      case .refused(let rejection?): try database.rejectedWrites.add(batch, rejection, of: user)
      case .refused(nil): break
      }
      var views: [DocumentKey: Document] = [:]
      let others = try OtherUsers(documents)
      for key in batch.keys {
        views[key] = try Settlement(key, batch, response).perform(documents, others)
      }
      for key in try collector?.collect(batch.keys) ?? [] where views[key] != nil {
        views[key] = LocalDocuments.nothing(key)
      }
      try tell(id, answer, Array(batch.keys), database)
      return views
    }
    guard let views else { return [:] }
    queue.batchRemoved()
    references.collected()
    return views
  }

  private func tell(
    _ id: BatchID, _ answer: Answer, _ keys: [DocumentKey], _ database: CacheDatabase
  ) throws(StoreError) {
    guard let sharing = database.sharing else { return }
    let outcome: Notice.Outcome =
      switch answer {
      case .committed(let response): .acknowledged(response)
      case .refused(let rejection?): .rejected(rejection.status)
      case .refused(nil): .rejected(RPCStatus(.cancelled, "Write \(id) was cancelled before it was sent."))
      }
    try sharing.tell(.batchSettled(id, outcome, keys), of: user)
  }

  /// All batches of the current user that wait, in order.
  package func pendingBatches() throws(StoreError) -> [MutationBatch] {
    try database.read { () throws(StoreError) in try database.mutations.batches(of: user) }
  }
}

extension LocalStore {
  /// The current user's writes that the backend refused, in the order in which they were made. Bounded: of more than
  /// 1 000 writes or 10 MiB the oldest are forgotten, but never the one that was refused last.
  package func rejectedWrites() throws(StoreError) -> [RejectedWrite] {
    try database.read { () throws(StoreError) in try database.rejectedWrites.writes(of: user) }
  }

  /// - Returns: whether the current user had it.
  package mutating func dropRejectedWrite(_ id: BatchID) throws(StoreError) -> Bool {
    let (database, user) = (database, user)
    return try database.transaction { () throws(StoreError) in
      try database.sharing?.tell(.rejectedWrites, of: user)
      return try database.rejectedWrites.remove(id, of: user)
    }
  }

  /// - Returns: how many the current user had.
  package mutating func dropAllRejectedWrites() throws(StoreError) -> Int {
    let (database, user) = (database, user)
    return try database.transaction { () throws(StoreError) in
      try database.sharing?.tell(.rejectedWrites, of: user)
      return try database.rejectedWrites.removeAll(of: user)
    }
  }
}
