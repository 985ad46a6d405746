// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
package import FirestoreSQLite

/// What others told since this client last heard them.
package struct News: Sendable {
  /// In order. Of other users' batches only which documents they changed (`bundle`).
  package var notices: [Notice]
  /// The batches that were added and still wait.
  package var batches: [BatchID: MutationBatch]
  /// What was told before has been forgotten meanwhile: everything has to be looked at.
  package var isIncomplete: Bool
  var last: Int64
  var version: Int64
}

extension LocalStore {
  /// Whether other clients may use the same cache.
  package var isShared: Bool { database.sharing != nil }

  /// Whether nobody else uses it now, as far as is known.
  package var isAlone: Bool { database.sharing?.isAlone ?? true }

  /// How many clients use it now, as far as is known.
  package var clientCount: Int { (database.sharing?.others.count ?? 0) + 1 }

  /// Wakes the other clients if anything was told them.
  package func wakeOthersIfTold() { database.sharing?.wakeOthersIfTold() }

  /// A descriptor that can be read when another client says something, comes or goes; the caller closes it.
  package func watchOthers() -> Int32? { database.sharing?.presence.watch() }

  // MARK: The lease

  /// Says that this client is there, and finds out whether it is primary from now on.
  package mutating func refreshLease(
    _ state: SharedClientState, wasPrimary: Bool, at now: Timestamp
  ) throws(StoreError) -> (lease: Lease.Refresh, removedClients: Bool) {
    try check(.refreshLease)
    let database = database
    guard let sharing = database.sharing else { return (Lease.Refresh(isHeld: true, wasLost: false), false) }
    return try database.transaction { () throws(StoreError) in
      try sharing.refreshLease(state, wasPrimary: wasPrimary, at: now)
    }
  }

  /// Whether the next client that asks may become primary, whatever the time.
  package func isLeaseOpen() throws(StoreError) -> Bool {
    guard let sharing = database.sharing else { return false }
    return try database.read { () throws(StoreError) in try sharing.isLeaseOpen() }
  }

  /// Takes the lease from whoever has it, for tests of what follows.
  package mutating func dropLease() throws(StoreError) {
    let database = database
    try database.transaction { () throws(StoreError) in try database.sharing?.tables.setLease(nil, at: 0) }
  }

  // MARK: Hearing

  /// What others have told.
  /// - Parameter isPrimary: such a client need not look at results, which are its own.
  /// - Returns: `nil` if the database is as it was.
  package func news(isPrimary: Bool) throws(StoreError) -> News? {
    guard let sharing = database.sharing else { return nil }
    return try database.read { () throws(StoreError) in
      guard let (records, isIncomplete, version) = try sharing.unheard() else { return nil }
      // What this client told itself needs no hearing.
      var news = News(
        notices: [], batches: [:], isIncomplete: isIncomplete, last: try sharing.tables.lastNotice(), version: version)
      for record in records {
        switch record.notice {
        case .batchAdded(let id):
          guard record.user == user else { continue }
          try check(.lookUpMutationDocuments)
          news.batches[id] = try database.mutations.batch(id, of: user)
        case .batchSettled(_, _, let keys):
          try check(.lookUpMutationDocuments)
          if record.user != user {
            news.notices.append(.bundle(keys))
            continue
          }
        case .documents, .target: if !isPrimary { try check(.getNewDocumentChanges) }
        case .rejectedWrites where record.user != user: continue
        default: break
        }
        news.notices.append(record.notice)
      }
      return news
    }
  }

  /// Asks the client that has the streams to take a batch back.
  package mutating func askToCancel(_ id: BatchID) throws(StoreError) {
    let (database, user) = (database, user)
    try database.transaction { () throws(StoreError) in try database.sharing?.tell(.cancellation(id), of: user) }
  }

  package mutating func refuseCancellation(of id: BatchID, _ status: RPCStatus) throws(StoreError) {
    let database = database
    try database.transaction { () throws(StoreError) in
      try database.sharing?.requireLease()
      try database.sharing?.tell(.cancellationRefused(id, status))
    }
  }

  /// What was told has been dealt with.
  package mutating func heard(_ news: News) { database.sharing?.heard(upTo: news.last, in: news.version) }

  /// The local views of documents that others may have changed.
  package func views(of keys: some Sequence<DocumentKey>) throws(StoreError) -> [DocumentKey: Document] {
    let documents = localDocuments
    return try database.read { () throws(StoreError) in
      var views: [DocumentKey: Document] = [:]
      for key in keys where views[key] == nil { views[key] = try documents.view(of: key) }
      return views
    }
  }

  /// The online state of the client that has the streams; `nil` if it did not say, or is gone.
  package func sharedOnlineState() throws(StoreError) -> OnlineState? {
    try database.read { () throws(StoreError) in try database.sharing?.tables.onlineState() }
  }

  // MARK: Targets

  /// What the listeners of other clients want from the backend.
  package func foreignTargets() throws(StoreError) -> Set<TargetID> {
    guard let sharing = database.sharing else { return [] }
    return try database.read { () throws(StoreError) in
      try sharing.tables.targets(ofOthersThan: sharing.id, .backend)
    }
  }

  /// What another client listens to.
  /// - Returns: `nil` for a target that is not there any more.
  package func target(_ id: TargetID) throws(StoreError) -> Target? {
    try check(.getTargetData)
    return try database.read { () throws(StoreError) in try database.targets.target(id) }
  }

  /// Whether the primary's result of a target is what the backend has.
  package func isSharedTargetCurrent(_ id: TargetID) throws(StoreError) -> Bool {
    guard let sharing = database.sharing else { return false }
    return try database.read { () throws(StoreError) in try sharing.tables.isCurrent(id) }
  }

  /// Says what this client wants of a target; `nil` if it does not listen to it any more.
  package mutating func announce(_ interest: TargetInterest?, in id: TargetID) throws(StoreError) {
    let database = database
    guard let sharing = database.sharing else { return }
    try database.transaction { () throws(StoreError) in
      // Whoever is alone says it when somebody comes.
      if sharing.isAlone { return }
      if try sharing.tables.set(interest, in: id, of: sharing.id) { try sharing.tell(.targets) }
    }
  }

  /// The backend refused a target: nobody listens to it any more.
  package mutating func refuseTarget(_ id: TargetID, _ status: RPCStatus) throws(StoreError) {
    let database = database
    guard let sharing = database.sharing else { return }
    try database.transaction { () throws(StoreError) in
      if sharing.isAlone { return }
      try sharing.requireLease()
      try sharing.tables.removeEverywhere(id)
      try sharing.tell(.targetRefused(id, status))
    }
  }

  /// Says of which targets the result is what the backend has, or is not.
  package mutating func announce(current states: [TargetID: Bool]) throws(StoreError) {
    let database = database
    guard let sharing = database.sharing else { return }
    try database.transaction { () throws(StoreError) in
      if sharing.isAlone { return }
      try sharing.requireLease()
      for (id, isCurrent) in states.sorted(by: { $0.key < $1.key }) {
        try sharing.tables.setCurrent(id, isCurrent)
        try sharing.tell(.target(id, isCurrent: isCurrent))
      }
    }
  }

  package mutating func announce(_ state: OnlineState) throws(StoreError) {
    let database = database
    guard let sharing = database.sharing else { return }
    try database.transaction { () throws(StoreError) in
      if sharing.isAlone { return }
      try sharing.requireLease()
      // Nothing is current then, and is said to be so again when it is.
      if state == .offline { try sharing.tables.removeStates() }
      try sharing.tables.set(state, of: sharing.id)
      try sharing.tell(.onlineState)
    }
  }

  /// Says everything that a client that is alone did not say.
  /// - Parameters:
  ///   - targets: what this client listens to.
  ///   - states: of a primary client, which results are what the backend has; with its online state.
  package mutating func announceAll(
    _ targets: [TargetID: TargetInterest], _ states: (current: [TargetID: Bool], online: OnlineState)?
  ) throws(StoreError) {
    let database = database
    guard let sharing = database.sharing else { return }
    try database.transaction { () throws(StoreError) in
      let (tables, client) = (sharing.tables, sharing.id)
      if states != nil { try sharing.requireLease() }
      try tables.removeTargets(of: client)
      for (id, interest) in targets { _ = try tables.set(interest, in: id, of: client) }
      try sharing.tell(.targets)
      guard let states else { return }
      try tables.removeStates()
      for (id, isCurrent) in states.current {
        try tables.setCurrent(id, isCurrent)
        try sharing.tell(.target(id, isCurrent: isCurrent))
      }
      try tables.set(states.online, of: client)
      try sharing.tell(.onlineState)
    }
  }

  /// Makes what is listened to agree with what the primary client has stored meanwhile.
  package mutating func refreshActiveTargets() throws(StoreError) {
    let (database, active) = (database, activeTargets)
    activeTargets = try database.read { () throws(StoreError) in
      var targets = active
      for (id, target) in active {
        if let data = try database.targets.data(for: target.data.target) { targets[id] = ActiveTarget(stored: data) }
      }
      return targets
    }
  }
}

extension TargetCache {
  func target(_ id: TargetID) throws(StoreError) -> Target? {
    try connection.first("SELECT target FROM targets WHERE id = ? AND canonical_id NOT LIKE 'collected:%'", id) {
      row throws(StoreError) in try Self.decode(row.blob(0))
    }
  }
}
