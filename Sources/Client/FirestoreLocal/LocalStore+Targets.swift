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

/// The targets that are listened to, found by id and by what they ask for.
///
/// Targets about which the backend has nothing to say follow the watch stream: they share one position, so that a
/// snapshot of the backend does not cost more the more of them there are.
struct ActiveTargets {
  /// The point up to which the backend has told everything about the targets that follow the stream.
  struct Position {
    var token: ResumeToken
    var version: SnapshotVersion
    var sequenceNumber: Int64
  }

  /// The change of the targets that a remote event makes.
  struct Change {
    /// Targets that had ceased to follow the stream before.
    var left: Set<TargetID> = []
    /// Whether no target follows the stream yet, since it is a new one.
    var isFirstOfStream = false
    var replaced: [TargetID: ActiveTarget] = [:]
    /// The new position of the targets that follow the stream; `nil` if they stay where they are.
    var position: Position?
    /// Whether followers were stored whose stored version was too old.
    var storesFollowers = false
  }

  private var byID: [TargetID: ActiveTarget] = [:]
  private var idOfTarget: [Target: TargetID] = [:]
  private var position: Position?
  /// The number of positions so far: a target has taken those up to its own count into account.
  private var positionCount = 0
  /// No version that a follower has stored is older; `nil` while nothing follows the stream.
  private var oldestStoredVersion: Int64?

  var ids: Set<TargetID> { Set(byID.keys) }
  /// All targets, where they stand now. O(targets).
  var all: [(id: TargetID, target: ActiveTarget)] { byID.map { ($0.key, atPosition($0.value)) } }
  subscript(id: TargetID) -> ActiveTarget? { byID[id].map(atPosition) }
  subscript(target: Target) -> ActiveTarget? { idOfTarget[target].flatMap { self[$0] } }

  /// Whether the target follows the watch stream.
  func followsStream(_ id: TargetID) -> Bool { byID[id]?.followsStream ?? false }

  private func atPosition(_ target: ActiveTarget) -> ActiveTarget {
    guard target.followsStream, target.positionCount < positionCount, let position else { return target }
    var target = target
    target.data.advance(to: position)
    target.positionCount = positionCount
    return target
  }

  /// Adds a target whose data are stored.
  mutating func begin(_ data: TargetData) {
    byID[data.id] = ActiveTarget(stored: data)
    idOfTarget[data.target] = data.id
  }

  /// - Returns: the target; `nil` if it was not active.
  mutating func end(_ id: TargetID) -> ActiveTarget? {
    guard let active = self[id] else { return nil }
    byID[id] = nil
    idOfTarget[active.data.target] = nil
    return active
  }

  /// Replaces what is known of an active target.
  mutating func replace(_ id: TargetID, with target: ActiveTarget) {
    var target = target
    target.positionCount = positionCount
    byID[id] = target
    guard target.followsStream else { return }
    oldestStoredVersion = min(oldestStoredVersion ?? .max, target.storedMicroseconds)
  }

  // MARK: The stream

  mutating func apply(_ change: Change) {
    if change.isFirstOfStream {
      for id in byID.keys { leave(id) }
      oldestStoredVersion = nil
    } else {
      for id in change.left { leave(id) }
    }
    if let position = change.position {
      self.position = position
      positionCount += 1
    }
    for (id, target) in change.replaced { replace(id, with: target) }
    if change.storesFollowers {
      oldestStoredVersion = byID.values.lazy.filter(\.followsStream).map(\.storedMicroseconds).min()
    }
  }

  /// Ends following the stream; the target stays where it is.
  private mutating func leave(_ id: TargetID) {
    guard var target = self[id], target.followsStream else { return }
    target.followsStream = false
    byID[id] = target
  }

  /// Whether what a follower has stored may be too old at a version.
  func mayHaveDueFollowers(at version: SnapshotVersion) -> Bool {
    guard let oldestStoredVersion else { return false }
    return version.microseconds - oldestStoredVersion >= ActiveTarget.maximumAgeMicroseconds
  }

  /// The targets that still follow the stream with a change.
  func followers(after change: Change) -> [TargetID] {
    if change.isFirstOfStream { return [] }
    return byID.filter { $0.value.followsStream && !change.left.contains($0.key) }.map(\.key)
  }
}

/// A target that is listened to.
struct ActiveTarget {
  var data: TargetData
  /// Whether the position of the watch stream is the target's, too, unless the backend says otherwise.
  var followsStream = false
  /// The number of positions of the stream that `data` takes into account.
  fileprivate var positionCount = 0
  /// The versions that the database holds; those of `data` may be newer.
  private var storedSnapshotVersion: SnapshotVersion?
  private var storedLimboFreeVersion: SnapshotVersion?

  init(stored data: TargetData) {
    self.data = data
    noteStored()
  }

  private mutating func noteStored() {
    storedSnapshotVersion = data.snapshotVersion
    storedLimboFreeVersion = data.lastLimboFreeSnapshotVersion
  }

  /// The greatest age of a stored token or limbo-free version (SDK: RESUME_TOKEN_MAX_AGE).
  static let maximumAgeMicroseconds: Int64 = 5 * 60 * 1_000_000

  fileprivate var storedMicroseconds: Int64 { storedSnapshotVersion?.microseconds ?? 0 }

  /// Whether the snapshot version of `data` is far enough ahead of the stored one to be stored for that alone.
  var snapshotVersionIsDue: Bool { Self.isDue(data.snapshotVersion, storedSnapshotVersion) }

  func limboFreeVersionIsDue(viewChanged: Bool) -> Bool {
    guard let current = data.lastLimboFreeSnapshotVersion, current != storedLimboFreeVersion else { return false }
    return viewChanged || storedLimboFreeVersion == nil || Self.isDue(current, storedLimboFreeVersion)
  }

  private static func isDue(_ current: SnapshotVersion?, _ stored: SnapshotVersion?) -> Bool {
    (current?.microseconds ?? 0) - (stored?.microseconds ?? 0) >= maximumAgeMicroseconds
  }

  mutating func store(in database: CacheDatabase) throws(StoreError) {
    try database.targets.set(data)
    noteStored()
  }
}

extension TargetData {
  /// Takes the position of the watch stream.
  mutating func advance(to position: ActiveTargets.Position) {
    resumeToken = position.token
    snapshotVersion = position.version
    sequenceNumber = position.sequenceNumber
  }
}
