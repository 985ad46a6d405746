// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

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
