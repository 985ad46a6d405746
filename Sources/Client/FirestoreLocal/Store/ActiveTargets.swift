// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// The targets that are listened to, found by id and by what they ask for.
struct ActiveTargets {
  private(set) var byID: [TargetID: ActiveTarget] = [:]
  private var idOfTarget: [Target: TargetID] = [:]

  var ids: Set<TargetID> { Set(byID.keys) }
  subscript(id: TargetID) -> ActiveTarget? { byID[id] }
  subscript(target: Target) -> ActiveTarget? { idOfTarget[target].flatMap { byID[$0] } }

  /// Adds a target whose data are stored.
  mutating func begin(_ data: TargetData) {
    byID[data.id] = ActiveTarget(stored: data)
    idOfTarget[data.target] = data.id
  }

  /// - Returns: the target; `nil` if it was not active.
  mutating func end(_ id: TargetID) -> ActiveTarget? {
    guard let active = byID.removeValue(forKey: id) else { return nil }
    idOfTarget[active.data.target] = nil
    return active
  }

  /// Replaces what is known of an active target.
  mutating func replace(_ id: TargetID, with target: ActiveTarget) { byID[id] = target }
}

/// A target that is listened to.
struct ActiveTarget {
  var data: TargetData
  /// The versions that the database holds; those of `data` may be newer.
  private(set) var storedSnapshotVersion: SnapshotVersion?
  private(set) var storedLimboFreeVersion: SnapshotVersion?

  init(stored data: TargetData) {
    self.data = data
    storedSnapshotVersion = data.snapshotVersion
    storedLimboFreeVersion = data.lastLimboFreeSnapshotVersion
  }

  /// The greatest age of a stored token or limbo-free version (SDK: RESUME_TOKEN_MAX_AGE).
  static let maximumAgeMicroseconds: Int64 = 5 * 60 * 1_000_000

  /// Whether the snapshot version of `data` is far enough ahead of the stored one to be stored for that alone.
  var snapshotVersionIsDue: Bool { Self.isDue(data.snapshotVersion, storedSnapshotVersion) }

  func limboFreeVersionIsDue(viewChanged: Bool) -> Bool {
    guard let current = data.lastLimboFreeSnapshotVersion, current != storedLimboFreeVersion else { return false }
    return viewChanged || storedLimboFreeVersion == nil || Self.isDue(current, storedLimboFreeVersion)
  }

  private static func isDue(_ current: SnapshotVersion?, _ stored: SnapshotVersion?) -> Bool {
    (current?.microseconds ?? 0) - (stored?.microseconds ?? 0) >= maximumAgeMicroseconds
  }

  func storing(in database: CacheDatabase) throws(StoreError) -> ActiveTarget {
    try database.targets.set(data)
    return ActiveTarget(stored: data)
  }
}
