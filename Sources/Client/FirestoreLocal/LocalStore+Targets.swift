// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
package import FirestoreSQLite

extension LocalStore {
  /// Activates a target. A target that is already stored keeps its id and resume token. A new target gets the next even
  /// id and has no token (SPEC-FORMAT §10).
  /// - Parameter interest: this client's interest in the target, which is announced to the other clients.
  package mutating func allocateTarget(
    _ target: Target, announcing interest: TargetInterest? = nil
  ) throws(StoreError) -> TargetData {
    try check(.allocateTarget)
    // Only the primary client uses the target in memory, because it stores all tokens.
    if isPrimary, let active = activeTargets[target] { return active.data }
    let database = database
    let data = try database.transaction { () throws(StoreError) in
      let data = try database.targets.allocate(target, database)
      // Store the interest in the same transaction, so that the target cannot be collected before.
      if let interest, let sharing = database.sharing, !sharing.isAlone {
        if try sharing.tables.add(interest, in: data.id, of: sharing.id) { try sharing.tell(.targets) }
      }
      return data
    }
    activeTargets.begin(data)
    return data
  }

  /// Deactivates a target. Stores the target's newest resume token and a new sequence number for this use. With eager
  /// garbage collection, evicts the target and the documents that only this target referred to.
  ///
  /// The target becomes inactive even if this function throws. In that case, the older token remains stored.
  /// - Parameter isForeign: whether the listener belonged to another client. If the function throws, such a target
  ///   remains active and can be released again.
  package mutating func releaseTarget(_ id: TargetID, isForeign: Bool = false) throws(StoreError) {
    if isForeign { try check(.releaseTarget) }
    guard let active = activeTargets.end(id) else { return }
    var shown = references.unpin(id)
    try check(.releaseTarget)
    // Only the primary client writes the stored data of targets.
    if !isPrimary { return }
    // Skips the documents of a large view, because nearly all of them belong to its target and need no sequence
    // numbers.
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

  /// An active target's data with its newest resume token, which may not be stored yet.
  package func activeTarget(_ id: TargetID) -> TargetData? { activeTargets[id]?.data }

  /// Whether the target uses the common position of the watch stream. Each target uses it until the backend reports a
  /// change for that target.
  package func followsStream(_ id: TargetID) -> Bool { activeTargets.followsStream(id) }

  /// The documents that belong to a target, according to the backend's last report.
  package func remoteKeys(of target: TargetID) throws(StoreError) -> Set<DocumentKey> {
    try database.read { () throws(StoreError) in
      var keys: Set<DocumentKey> = []
      try database.scanMembers(of: target) { row throws(StoreError) in
        keys.insert(try database.collections.key(row.collection, row.name))
      }
      return keys
    }
  }

  /// Records which documents the views show. These documents are not garbage-collected. If a view has no documents in
  /// limbo, this fact is also stored, so that the next execution of its query can start from the target's documents.
  /// The documents are protected even if storing fails.
  package mutating func notifyLocalViewChanges(_ changes: [LocalViewChanges]) throws(StoreError) {
    for change in changes { pin(change) }
    try check(.notifyLocalViewChanges)
    // Only the primary client stores the changes; it has the same views.
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
    // The eager collector needs the keys in nearly every transaction.
    if policy == .eager { references.settle(change.targetID) }
  }

  private static var individuallyTouched: Int { 1000 }

  /// Gives a document a new sequence number if no target contains it.
  private static func touchIfOrphaned(
    _ key: DocumentKey, _ sequenceNumber: Int64, _ database: CacheDatabase
  ) throws(StoreError) {
    guard let collection = try database.collections.number(of: key),
      let header = try database.documents.header(collection, key.documentID),
      try !database.targets.anyContains(header.number)
    else { return }
    try database.documents.touch(header.number, sequenceNumber: sequenceNumber)
  }

  /// Protects a document from garbage collection during its limbo lookup.
  package mutating func addLimboReference(_ key: DocumentKey, _ target: TargetID) {
    references.add(key, lookedUpBy: target)
  }

  package mutating func removeLimboReferences(_ target: TargetID) {
    let keys = references.remove(target)
    if policy == .eager { references.lost(keys) }
  }
}

extension TargetCache {
  /// The stored target, or a new target with the next even id (SPEC-FORMAT §10).
  /// - Precondition: inside a transaction.
  func allocate(_ target: Target, _ database: CacheDatabase) throws(StoreError) -> TargetData {
    if let known = try data(for: target) { return known }
    let highest = try database.globals.value(.highestTargetID) ?? 0
    guard let id = Int32(exactly: highest + 2) else {
      throw StoreError(.sqlite, "The cache has no free target ids left. Use a new cache directory.")
    }
    try database.globals.set(.highestTargetID, highest + 2)
    let data = TargetData(id: TargetID(id), target: target, sequenceNumber: try database.sequenceNumbers.next())
    try set(data)
    return data
  }
}

/// The targets with listeners, by id and by query.
///
/// A target follows the watch stream as long as the backend reports no changes for the target. All targets that follow
/// the stream share one position, so that the cost of a snapshot does not depend on their number.
struct ActiveTargets {
  /// The common position of the targets that follow the stream.
  struct Position {
    var token: ResumeToken
    var version: SnapshotVersion
    var sequenceNumber: Int64
  }

  /// The effect of a remote event on the active targets.
  struct Change {
    /// Targets that stopped following the stream before the event.
    var left: Set<TargetID> = []
    /// Whether no target follows the stream yet, because the stream is new.
    var isFirstOfStream = false
    var replaced: [TargetID: ActiveTarget] = [:]
    /// The new position of the targets that follow the stream; `nil` if their position does not change.
    var position: Position?
    /// Whether targets that follow the stream were written to the database because their stored version was outdated.
    var storesFollowers = false
  }

  private var byID: [TargetID: ActiveTarget] = [:]
  private var idOfTarget: [Target: TargetID] = [:]
  private var position: Position?
  /// The number of positions so far. Each target counts separately how many positions it has applied.
  private var positionCount = 0
  /// A lower bound for the stored versions of the targets that follow the stream; `nil` if no target follows the
  /// stream.
  private var oldestStoredVersion: Int64?

  var ids: Set<TargetID> { Set(byID.keys) }
  /// All targets with their current position. Takes O(targets) time.
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

  /// Adds a target with stored data.
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

  /// Replaces an active target.
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

  /// Stops a target from following the stream. The target keeps its current position.
  private mutating func leave(_ id: TargetID) {
    guard var target = self[id], target.followsStream else { return }
    target.followsStream = false
    byID[id] = target
  }

  /// Whether, at this version, the stored data of some target that follows the stream may be outdated.
  func mayHaveDueFollowers(at version: SnapshotVersion) -> Bool {
    guard let oldestStoredVersion else { return false }
    return version.microseconds - oldestStoredVersion >= ActiveTarget.maximumAgeMicroseconds
  }

  /// The targets that follow the stream after the change.
  func followers(after change: Change) -> [TargetID] {
    if change.isFirstOfStream { return [] }
    return byID.filter { $0.value.followsStream && !change.left.contains($0.key) }.map(\.key)
  }
}

/// A target with listeners.
struct ActiveTarget {
  var data: TargetData
  /// Whether the target uses the common position of the watch stream. Each target uses it until the backend reports a
  /// change for that target.
  var followsStream = false
  /// The number of stream positions that were applied to `data`.
  fileprivate var positionCount = 0
  /// The snapshot version in the database; `data` may contain a newer one.
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

  /// The maximum age in microseconds of a stored resume token or of a stored limbo-free version (SDK:
  /// RESUME_TOKEN_MAX_AGE).
  static let maximumAgeMicroseconds: Int64 = 5 * 60 * 1_000_000

  fileprivate var storedMicroseconds: Int64 { storedSnapshotVersion?.microseconds ?? 0 }

  /// Whether the stored snapshot version is so old that the newer version must be stored even if no documents changed.
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
  /// Applies the common position of the watch stream.
  mutating func advance(to position: ActiveTargets.Position) {
    resumeToken = position.token
    snapshotVersion = position.version
    sequenceNumber = position.sequenceNumber
  }
}
