// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
package import FirestoreSQLite

/// The notices of other clients that this client has not processed yet.
package struct SharedUpdates: Sendable {
  /// The notices, in order. A batch of another user is reported as a change of its documents (`bundle`).
  package var notices: [Notice]
  /// The batches that the notices report as added and that are still pending.
  package var batches: [BatchID: MutationBatch]
  /// Whether some unread notices were deleted, so that the client must check everything.
  package var isIncomplete: Bool
  var last: Int64
  var version: Int64
}

extension LocalStore {
  /// Whether other clients may use the same cache.
  package var isShared: Bool { database.sharing != nil }

  /// Whether no other client uses the cache at present, as far as this client knows.
  package var isAlone: Bool { database.sharing?.isAlone ?? true }

  /// The number of clients that use the cache at present, as far as this client knows. Includes this client.
  package var clientCount: Int { (database.sharing?.others.count ?? 0) + 1 }

  /// Wakes the other clients if this client has written notices for them.
  package func wakeOthersIfTold() { database.sharing?.wakeOthersIfTold() }

  /// A descriptor that becomes readable when another client writes a notice, opens the cache or closes it. The caller
  /// closes the descriptor.
  package func watchOthers() -> Int32? { database.sharing?.presence.watch() }

  /// Registers `wake` if all clients of the cache run on one thread. `wake` is called when another client writes a
  /// notice or closes the cache.
  /// - Returns: whether all clients run on one thread.
  package func joinCompany(_ wake: @escaping @Sendable () -> Void) -> Bool {
    guard let sharing = database.sharing, let peers = sharing.peers else { return false }
    peers.join(sharing.id, wake)
    return true
  }

  // MARK: The lease

  /// Announces that this client is alive, and determines whether this client is primary from now on.
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

  /// Whether no client has the lease, so that the next client that requests it becomes primary immediately.
  package func isLeaseOpen() throws(StoreError) -> Bool {
    guard let sharing = database.sharing else { return false }
    return try database.read { () throws(StoreError) in try sharing.isLeaseOpen() }
  }

  /// Ends the current lease, so that tests can check how another client takes it over.
  package mutating func dropLease() throws(StoreError) {
    let database = database
    try database.transaction { () throws(StoreError) in try database.sharing?.tables.setLease(nil, at: 0) }
  }

  // MARK: Hearing

  /// The notices of other clients that this client has not processed yet.
  /// - Parameter isPrimary: whether this client is primary. A primary client does not have to check target results,
  ///   because it wrote them itself.
  /// - Returns: `nil` if the database has not changed.
  package func news(isPrimary: Bool) throws(StoreError) -> SharedUpdates? {
    guard let sharing = database.sharing else { return nil }
    return try database.read { () throws(StoreError) in
      guard let (records, isIncomplete, version) = try sharing.unheard() else { return nil }
      // This client's own notices are omitted.
      var news = SharedUpdates(
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

  /// Requests that the primary client cancel a batch.
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

  /// Records that this client has processed the notices.
  package mutating func heard(_ news: SharedUpdates) { database.sharing?.heard(upTo: news.last, in: news.version) }

  /// The local views of documents that other clients may have changed.
  package func views(of keys: some Sequence<DocumentKey>) throws(StoreError) -> [DocumentKey: Document] {
    let documents = localDocuments
    return try database.read { () throws(StoreError) in
      var views: [DocumentKey: Document] = [:]
      for key in keys where views[key] == nil { views[key] = try documents.view(of: key) }
      return views
    }
  }

  /// The online state of the primary client; `nil` if it has not announced its state or has closed the cache.
  package func sharedOnlineState() throws(StoreError) -> OnlineState? {
    try database.read { () throws(StoreError) in try database.sharing?.tables.onlineState() }
  }

  // MARK: Targets

  /// The targets for which other clients' listeners need the backend's result.
  package func foreignTargets() throws(StoreError) -> Set<TargetID> {
    guard let sharing = database.sharing else { return [] }
    return try database.read { () throws(StoreError) in
      try sharing.tables.targets(ofOthersThan: sharing.id, .backend)
    }
  }

  /// Looks up the target with this id, for another client's listener.
  /// - Returns: `nil` for a target that no longer exists.
  package func target(_ id: TargetID) throws(StoreError) -> Target? {
    try check(.getTargetData)
    return try database.read { () throws(StoreError) in try database.targets.target(id) }
  }

  /// Whether the primary client has announced that its result for the target is complete according to the backend.
  package func isSharedTargetCurrent(_ id: TargetID) throws(StoreError) -> Bool {
    guard let sharing = database.sharing else { return false }
    return try database.read { () throws(StoreError) in try sharing.tables.isCurrent(id) }
  }

  /// Announces why this client needs a target. `nil` announces that this client no longer listens to the target.
  package mutating func announce(_ interest: TargetInterest?, in id: TargetID) throws(StoreError) {
    let database = database
    guard let sharing = database.sharing else { return }
    try database.transaction { () throws(StoreError) in
      // A client without other clients announces its targets only when another client arrives.
      if sharing.isAlone { return }
      if try sharing.tables.set(interest, in: id, of: sharing.id) { try sharing.tell(.targets) }
    }
  }

  /// Removes all clients' interest in a target that the backend rejected.
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

  /// Announces for each target whether its result is complete according to the backend.
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
      // Results are not current while offline. Each target is announced again after reconnection.
      if state == .offline { try sharing.tables.removeStates() }
      try sharing.tables.set(state, of: sharing.id)
      try sharing.tell(.onlineState)
    }
  }

  /// Makes the announcements that this client skipped while it was the only client.
  /// - Parameters:
  ///   - targets: the targets of this client's listeners.
  ///   - states: for a primary client, its online state and whether each target's result is complete.
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

  /// Updates the active targets with data that the primary client has stored.
  package mutating func refreshActiveTargets() throws(StoreError) {
    let (database, active) = (database, activeTargets)
    activeTargets = try database.read { () throws(StoreError) in
      var targets = active
      for (id, target) in active.all {
        guard let data = try database.targets.data(for: target.data.target) else { continue }
        targets.replace(id, with: ActiveTarget(stored: data))
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

/// The state that a client of a shared cache announces to the others.
package struct SharedClientState: Hashable, Sendable {
  package var usesNetwork: Bool
  /// Whether the client is visible to the user (in the foreground).
  package var isVisible: Bool

  package init(usesNetwork: Bool, isVisible: Bool) {
    self.usesNetwork = usesNetwork
    self.isVisible = isVisible
  }
}

/// The right to be the primary client, which runs the streams to the backend for all clients of the cache (SPEC-FORMAT
/// §11).
package enum Lease {
  /// The interval at which each client announces that it is alive (SDK: CLIENT_METADATA_REFRESH_INTERVAL_MS).
  package static let refreshInterval = Duration.seconds(4)
  /// The time in microseconds for which a lease, or a client's announced state, remains valid (SDK:
  /// MAX_PRIMARY_ELIGIBLE_AGE_MS).
  static let maximumAge: Int64 = 5_000_000

  static func isFresh(_ time: Int64, at now: Int64) -> Bool { time <= now && now - time <= maximumAge }

  /// Whether a client may become primary now.
  /// - Parameters:
  ///   - lease: the primary client and the time at which it last refreshed the lease; `nil` if no client has the lease.
  ///   - others: all other clients.
  static func mayBeTaken(
    by client: Int64, _ state: SharedClientState, _ lease: (holder: Int64, time: Int64)?,
    others: [SharingTables.Client], at now: Int64
  ) -> Bool {
    if let lease, isFresh(lease.time, at: now) {
      if lease.holder != client { return false }
      if state.usesNetwork { return true }
    }
    if state.usesNetwork, state.isVisible { return true }
    return !others.contains { other in
      guard isFresh(other.alive, at: now) else { return false }
      if other.usesNetwork != state.usesNetwork { return other.usesNetwork }
      return other.isVisible && !state.isVisible
    }
  }

  /// The state of a client's lease after a refresh.
  package struct Refresh: Sendable {
    /// Whether the client is primary now.
    package var isHeld: Bool
    /// Whether the client believed that it was primary, but had lost the lease.
    package var wasLost: Bool
  }
}
