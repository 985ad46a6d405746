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
      var before: [DocumentKey: WrittenDocument] = [:]
      for mutation in mutations where before[mutation.key] == nil {
        before[mutation.key] = try WrittenDocument(mutation.key, documents)
      }
      let base = mutations.compactMap { mutation in
        before[mutation.key].flatMap { mutation.baseMutation(for: $0.progress.view) }
      }
      let batch = try database.mutations.add(
        mutations, base: base, in: database.generation, at: localWriteTime, for: user)
      var changes: [DocumentKey: Document] = [:]
      for (key, written) in before {
        changes[key] = try documents.add(batch, to: written.progress, written.collection, written.name)
      }
      var result = LocalWriteResult(batch: batch, changes: changes)
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
  /// - Parameters:
  ///   - response: one result per mutation of the batch.
  ///   - batch: the batch as it was stored, if the caller has it; it is read otherwise, and in a cache that is shared.
  /// - Returns: the local views of the batch's documents; empty if the batch is not in the queue.
  package mutating func acknowledge(
    _ id: BatchID, _ response: CommitResponse, of batch: MutationBatch? = nil
  ) throws(StoreError) -> [DocumentKey: Document] {
    try check(.acknowledgeBatch)
    return try settle(id, .committed(response), database.sharing == nil ? batch : nil)
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

  /// A document that a new batch changes, as it was before, and its place in the tables.
  private struct WrittenDocument {
    let collection: CollectionNumber
    let name: String
    let progress: LocalDocuments.Progress

    init(_ key: DocumentKey, _ documents: LocalDocuments) throws(StoreError) {
      collection = try documents.database.collections.numberAdding(key)
      name = key.documentID
      progress = try documents.progress(key, collection, name)
    }
  }

  private enum Answer {
    case committed(CommitResponse)
    case refused(Rejection?)
  }

  private mutating func settle(
    _ id: BatchID, _ answer: Answer, _ known: MutationBatch? = nil
  ) throws(StoreError) -> [DocumentKey: Document] {
    let database = database
    let user = user
    let documents = localDocuments
    let collector = eagerGarbageCollector
    let views = try database.transaction { () throws(StoreError) -> [DocumentKey: Document]? in
      try database.sharing?.requireLease()
      var waiting = known
      if waiting == nil { waiting = try database.mutations.batch(id, of: user) }
      guard let batch = waiting, try database.mutations.remove(id, of: user) else { return nil }
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
