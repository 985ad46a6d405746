// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
package import FirestoreSQLite

extension LocalStore {
  /// Makes a target active: the known one with its token, or a new one under the next even id (SPEC-FORMAT §10).
  /// - Parameter interest: this client's interest in the target, announced to the other clients.
  package mutating func allocateTarget(
    _ target: Target, announcing interest: TargetInterest? = nil
  ) throws(StoreError) -> TargetData {
    try check(.allocateTarget)
    // Another client may have stored a newer token.
    if isPrimary, let active = activeTargets[target] { return active.data }
    let database = database
    let data = try database.transaction { () throws(StoreError) in
      let data = try database.targets.allocate(target, database)
      // The interest is stored before the target can be collected.
      if let interest, let sharing = database.sharing, !sharing.isAlone {
        if try sharing.tables.add(interest, in: data.id, of: sharing.id) { try sharing.tell(.targets) }
      }
      return data
    }
    activeTargets.begin(data)
    return data
  }

  /// Ends listening. Stores the newest token and the sequence number of this use; with eager collection the target is
  /// forgotten together with the documents that only it held.
  ///
  /// The target is inactive afterwards even if this throws; then the stored token stays the older one.
  /// - Parameter isForeign: whether another client listens. Its target stays active if this throws, to be released
  ///   again.
  package mutating func releaseTarget(_ id: TargetID, isForeign: Bool = false) throws(StoreError) {
    if isForeign { try check(.releaseTarget) }
    guard let active = activeTargets.end(id) else { return }
    var shown = references.unpin(id)
    try check(.releaseTarget)
    // The stored data of targets belong to the primary client.
    if !isPrimary { return }
    // Practically all documents of a large view belong to its target, and need no place of their own.
    let isFew = shown.maximumCount <= Self.individuallyTouched
    let shownKeys = policy == .eager || isFew ? shown.settled() : []
    let database = database
    let collector = eagerGarbageCollector
    try database.transaction { () throws(StoreError) in
      if let sharing = database.sharing, !sharing.isAlone {
        try sharing.requireLease()
        try sharing.tables.withdraw(id, of: sharing.id)
      }
      let sequenceNumber = try database.sequenceNumbers.next()
      if let collector {
        let members = try database.targets.members(of: id)
        try database.targets.remove(id)
        try collector.collect(shownKeys)
        try collector.collect(members)
        return
      }
      var data = active.data
      data.sequenceNumber = sequenceNumber
      try database.targets.set(data)
      for key in shownKeys { try Self.touchIfOrphaned(key, sequenceNumber, database) }
    }
    references.collected()
  }

  /// The stored data of a target, active or not.
  package func targetData(for target: Target) throws(StoreError) -> TargetData? {
    try check(.getTargetData)
    return try knownTarget(target)
  }

  func knownTarget(_ target: Target) throws(StoreError) -> TargetData? {
    if isPrimary, let active = activeTargets[target] { return active.data }
    return try database.read { () throws(StoreError) in try database.targets.data(for: target) }
  }

  /// An active target's data with the newest token, whether or not that token is stored yet.
  package func activeTarget(_ id: TargetID) -> TargetData? { activeTargets[id]?.data }

  /// Whether the position of the watch stream is the target's, too, unless the backend says otherwise.
  package func followsStream(_ id: TargetID) -> Bool { activeTargets.followsStream(id) }

  /// The documents that belong to a target as far as the backend has said.
  package func remoteKeys(of target: TargetID) throws(StoreError) -> Set<DocumentKey> {
    try database.read { () throws(StoreError) in
      var keys: Set<DocumentKey> = []
      try database.scanMembers(of: target) { row throws(StoreError) in
        keys.insert(try database.collections.key(row.collection, row.name))
      }
      return keys
    }
  }

  /// Records which documents views show: pinned documents are not collected, and a view without documents in limbo lets
  /// its query start from the target's documents next time. The pins are kept even if storing fails.
  package mutating func notifyLocalViewChanges(_ changes: [LocalViewChanges]) throws(StoreError) {
    for change in changes { pin(change) }
    try check(.notifyLocalViewChanges)
    // The primary client has these views as well.
    if !isPrimary { return }
    let database = database
    var targets: [TargetID: ActiveTarget] = [:]
    var removed: Set<DocumentKey> = []
    var stale: [TargetID] = []
    for change in changes {
      removed.formUnion(change.removed)
      guard !change.isFromCache, !change.hidesDocuments,
        var target = targets[change.targetID] ?? activeTargets[change.targetID]
      else { continue }
      target.data.lastLimboFreeSnapshotVersion = target.data.snapshotVersion
      targets[change.targetID] = target
      if target.limboFreeVersionIsDue(viewChanged: !change.added.isEmpty || !change.removed.isEmpty) {
        stale.append(change.targetID)
      }
    }
    let collector = eagerGarbageCollector
    if !removed.isEmpty || !stale.isEmpty {
      try database.transaction { () throws(StoreError) in
        let sequenceNumber = try database.sequenceNumbers.next()
        for id in stale { try targets[id]?.store(in: database) }
        if let collector {
          try collector.collect(removed)
        } else {
          for key in removed { try Self.touchIfOrphaned(key, sequenceNumber, database) }
        }
      }
      references.collected()
    }
    for (id, target) in targets { activeTargets.replace(id, with: target) }
  }

  private mutating func pin(_ change: LocalViewChanges) {
    references.pin(change)
    // The eager collector asks for the keys in nearly every transaction.
    if policy == .eager { references.settle(change.targetID) }
  }

  private static var individuallyTouched: Int { 1000 }

  /// Gives a document that belongs to no target a new place in the order of collection.
  private static func touchIfOrphaned(
    _ key: DocumentKey, _ sequenceNumber: Int64, _ database: CacheDatabase
  ) throws(StoreError) {
    guard let collection = try database.collections.number(of: key),
      let header = try database.documents.header(collection, key.documentID),
      try !database.targets.anyContains(header.number)
    else { return }
    try database.documents.touch(header.number, sequenceNumber: sequenceNumber)
  }

  /// Keeps a document that is being looked up from being collected.
  package mutating func addLimboReference(_ key: DocumentKey, _ target: TargetID) {
    references.add(key, lookedUpBy: target)
  }

  package mutating func removeLimboReferences(_ target: TargetID) {
    let keys = references.remove(target)
    if policy == .eager { references.lost(keys) }
  }
}

extension TargetCache {
  /// The known target, or a new one under the next even id (SPEC-FORMAT §10).
  /// - Precondition: inside a transaction.
  func allocate(_ target: Target, _ database: CacheDatabase) throws(StoreError) -> TargetData {
    if let known = try data(for: target) { return known }
    let highest = try database.globals.value(.highestTargetID) ?? 0
    guard let id = Int32(exactly: highest + 2) else {
      throw StoreError(.sqlite, "The cache has run out of target ids; use a new cache directory.")
    }
    try database.globals.set(.highestTargetID, highest + 2)
    let data = TargetData(id: TargetID(id), target: target, sequenceNumber: try database.sequenceNumbers.next())
    try set(data)
    return data
  }
}
