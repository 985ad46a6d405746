// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSQLite

extension LocalStore {
  /// Queues mutations as one batch.
  /// - Parameters:
  ///   - rejected: the rejected write that the batch replaces. The rejected write is removed in the same transaction.
  ///   - last: the user's newest batch that the caller already has. It may have left the queue in the meantime.
  /// - Returns: the batch's number and the local views of all its documents.
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

  /// Removes an acknowledged batch and updates its documents to their committed state.
  /// - Parameters:
  ///   - response: one result per mutation of the batch.
  ///   - batch: the stored batch, if the caller has it. The batch is read from the table if it is `nil`, or if the
  ///     cache is shared.
  /// - Returns: the local views of the batch's documents; empty if the batch is not in the queue.
  package mutating func acknowledge(
    _ id: BatchID, _ response: CommitResponse, of batch: MutationBatch? = nil
  ) throws(StoreError) -> [DocumentKey: Document] {
    try check(.acknowledgeBatch)
    return try settle(id, .committed(response), database.sharing == nil ? batch : nil)
  }

  /// Removes a batch that will not be committed, and undoes its effect on the local views.
  /// - Parameter rejection: the backend's rejection, stored with the batch as a rejected write; `nil` for a batch that
  ///   the user cancels, which is not stored.
  /// - Returns: the local views of the batch's documents; empty if the batch is not in the queue.
  package mutating func reject(
    _ id: BatchID, _ rejection: Rejection? = nil
  ) throws(StoreError) -> [DocumentKey: Document] {
    try check(.rejectBatch)
    return try settle(id, .refused(rejection))
  }

  /// The state of a document before a new batch changes it, and its numbers in the tables.
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
        views[key] = try BatchResolution(key, batch, response).perform(documents, others)
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
      case .refused(nil): .rejected(RPCStatus(.cancelled, "Write \(id) was canceled before it was sent."))
      }
    try sharing.tell(.batchSettled(id, outcome, keys), of: user)
  }

  /// All pending batches of the current user, in order.
  package func pendingBatches() throws(StoreError) -> [MutationBatch] {
    try database.read { () throws(StoreError) in try database.mutations.batches(of: user) }
  }
}

extension LocalStore {
  /// The current user's rejected writes, in the order of their creation. Beyond 1 000 writes or 10 MiB, the cache drops
  /// the oldest writes, but never the most recently rejected one.
  package func rejectedWrites() throws(StoreError) -> [RejectedWrite] {
    try database.read { () throws(StoreError) in try database.rejectedWrites.writes(of: user) }
  }

  /// - Returns: whether the write existed among the current user's rejected writes.
  package mutating func dropRejectedWrite(_ id: BatchID) throws(StoreError) -> Bool {
    let (database, user) = (database, user)
    return try database.transaction { () throws(StoreError) in
      try database.sharing?.tell(.rejectedWrites, of: user)
      return try database.rejectedWrites.remove(id, of: user)
    }
  }

  /// - Returns: the number of dropped writes.
  package mutating func dropAllRejectedWrites() throws(StoreError) -> Int {
    let (database, user) = (database, user)
    return try database.transaction { () throws(StoreError) in
      try database.sharing?.tell(.rejectedWrites, of: user)
      return try database.rejectedWrites.removeAll(of: user)
    }
  }
}

/// Updates one document after its batch was acknowledged or rejected. The batch has already left the queue, but the
/// document's list of batches still contains it.
struct BatchResolution {
  private let key: DocumentKey
  private let batch: MutationBatch
  private let response: CommitResponse?

  init(_ key: DocumentKey, _ batch: MutationBatch, _ response: CommitResponse?) {
    self.key = key
    self.batch = batch
    self.response = response
  }

  /// - Parameter others: other users who may also have pending writes for the document.
  /// - Returns: the document's local view.
  func perform(_ documents: LocalDocuments, _ others: OtherUsers?) throws(StoreError) -> Document {
    let database = documents.database
    let collection = try database.collections.numberAdding(key)
    let name = key.documentID
    let stored = try database.documents.stored(key, named: name, in: collection)
    let (header, before) = (stored?.header, stored?.document)
    var remote = before
    var wasApplied = false
    let readTime = try database.globals.readTime(in: response?.commitTime)
    if let response, let advanced = advance(remote, response) {
      try database.documents.store(
        advanced, over: header, in: collection, readTime: readTime,
        sequenceNumber: try database.sequenceNumbers.next())
      remote = advanced
      wasApplied = true
      for other in try others?.views(of: collection, name) ?? [] {
        _ = try other.view(of: key, overChanged: remote, from: before, collection, name)
      }
    } else if let header {
      // The remote document is visible again without the batch.
      try database.documents.renew(
        header.number, readTime: readTime, sequenceNumber: try database.sequenceNumbers.next())
    }
    let user = documents.user
    guard let next = try database.mutations.firstID(affecting: collection, name, of: user, without: batch.id) else {
      try database.overlays.removeAll(collection, name, of: user)
      return LocalDocuments.view(of: key, over: remote, nil)
    }
    try database.overlays.remove(batch.id, collection, name, of: user)
    if next > batch.id,
      let view = try documents.view(of: key, from: before, over: remote, without: batch, collection, name)
    {
      return view
    }
    // The overlay remains valid if the commit had the effect that the local view already showed, because the later
    // batches then apply to the same document as before. Therefore the cost of an acknowledgement does not depend on
    // the queue's length. This requires that the next batch certainly has an effect. Otherwise, the document might no
    // longer have local changes.
    if wasApplied, let data = remote?.data, documents.fold([batch], key, over: before).view.data == data,
      let next = try database.mutations.batch(next, of: documents.user), changes(next),
      let overlay = try database.overlays.overlay(collection, name, of: documents.user)
    {
      return LocalDocuments.view(of: key, over: remote, overlay)
    }
    return try documents.recompute(key, over: remote)
  }

  /// Whether a batch is certain to change the document if the document exists.
  private func changes(_ batch: MutationBatch) -> Bool {
    switch batch.mutations.first(where: { $0.key == key })?.precondition {
    case .some(.none), .exists(true): true
    case .exists(false), .updateTime, nil: false
    }
  }

  /// The remote document after the commit; `nil` if the cache already has this version or a newer one.
  private func advance(_ remote: Document?, _ response: CommitResponse) -> Document? {
    var results: [(Mutation, MutationResult)] = []
    for (index, mutation) in batch.mutations.enumerated() where mutation.key == key {
      let result =
        index < response.results.count
        ? response.results[index] : MutationResult(version: response.commitTime)
      results.append((mutation, result))
    }
    guard let version = results.last?.1.version else { return nil }
    if let stored = remote?.version, stored >= version { return nil }
    var document = remote ?? Document(key: key, version: nil, state: .missing)
    for (mutation, result) in results { mutation.applyAcknowledged(result, to: &document) }
    return document
  }
}

extension LocalStore {
  /// Activates a user's queue. A `nil` name stands for the signed-out user. Must be called before any listener exists.
  package mutating func start(user name: String?) throws(StoreError) {
    try check(.start)
    let database = database
    let user = try database.transaction { () throws(StoreError) in try Self.activate(name, database) }
    let count = try database.read { () throws(StoreError) in try database.mutations.count(of: user) }
    queue = UserQueue(user: user, batchCount: count)
  }

  /// Switches to another user's queue of pending writes. The previous user's batches remain stored and pending.
  package mutating func changeUser(to name: String?) throws(StoreError) -> UserChangeResult {
    try check(.handleUserChange)
    let database = database
    let old = user
    let (user, count, result) = try database.transaction { () throws(StoreError) in
      let removed = try database.mutations.batches(of: old)
      let user = try Self.activate(name, database)
      let added = try database.mutations.batches(of: user)
      let documents = LocalDocuments(database: database, user: user, hasBatches: !added.isEmpty)
      try renew(removed, database)
      var affected: [DocumentKey: Document] = [:]
      for batch in removed + added {
        for key in batch.keys where affected[key] == nil { affected[key] = try documents.view(of: key) }
      }
      let result = UserChangeResult(
        affected: affected, removedBatches: removed.map(\.id), addedBatches: added)
      return (user, added.count, result)
    }
    queue = UserQueue(user: user, batchCount: count)
    return result
  }

  /// Marks the documents of the batches as changed. Without the batches, queries see the remote versions of these
  /// documents again.
  private func renew(_ batches: [MutationBatch], _ database: CacheDatabase) throws(StoreError) {
    let readTime = try database.globals.readTime()
    let sequenceNumber = try database.sequenceNumbers.next()
    for key in Set(batches.flatMap(\.keys)) {
      guard let collection = try database.collections.number(of: key),
        let header = try database.documents.header(collection, key.documentID)
      else { continue }
      try database.documents.renew(header.number, readTime: readTime, sequenceNumber: sequenceNumber)
    }
  }

  /// Makes a user the current user. Also updates this user's overlays for documents that changed while another user was
  /// current.
  private static func activate(_ name: String?, _ database: CacheDatabase) throws(StoreError) -> UserNumber {
    let user = try database.mutations.number(ofUser: name)
    if try database.globals.value(.currentUser) == user.rawValue { return user }
    try database.globals.set(.currentUser, user.rawValue)
    let documents = LocalDocuments(database: database, user: user, hasBatches: true)
    for key in try database.mutations.keys(of: user) {
      try documents.recompute(key, over: try database.documents.document(key))
    }
    return user
  }
}

/// A user with pending writes, and the number of that user's batches.
struct UserQueue: Sendable {
  private(set) var user: UserNumber
  private(set) var batchCount: Int

  mutating func batchAdded() { batchCount += 1 }
  mutating func batchRemoved() { batchCount -= 1 }
}
