// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import Synchronization

/// The bytes of the last messages about a document and about a snapshot. Listeners of one collection are mostly told the
/// same, one after another, under the same target id: what one is told is encoded once for all of them.
final class LastMessages: Sendable {
  private struct Change: Sendable {
    let database: DatabaseID
    let key: DocumentKey
    /// The version, which a document of a database has only once.
    let version: SnapshotVersion
    let exists: Bool
    let updated: [TargetID]
    let removed: [TargetID]
    let bytes: [UInt8]
  }

  private struct Snapshot: Sendable {
    let version: SnapshotVersion
    /// The position, which names the data as well.
    let token: ResumeToken
    let bytes: [UInt8]
  }

  private struct State: Sendable {
    var change: Change?
    var snapshot: Snapshot?
  }

  /// The size in bytes up to which a message is kept.
  private static let mostBytes = 64 << 10

  private let state = Mutex(State())

  /// The message of a change to a listener on a database.
  func message(
    _ change: WatchChange, in database: DatabaseID, _ names: DocumentNames, readTime: SnapshotVersion
  ) -> [UInt8] {
    func encoded() -> [UInt8] { WireWriter.message { $0.watchChange(change, names, readTime: readTime) } }
    switch change {
    case .document(let document, let updated, let removed):
      guard let version = document.version else { return encoded() }
      return state.withLock { state in
        if let last = state.change, last.version == version, last.exists == document.exists, last.key == document.key,
          last.updated == updated, last.removed == removed, last.database == database
        {
          return last.bytes
        }
        let bytes = encoded()
        if bytes.count > Self.mostBytes { return bytes }
        state.change = Change(
          database: database, key: document.key, version: version, exists: document.exists, updated: updated,
          removed: removed, bytes: bytes)
        return bytes
      }
    case .snapshot(let version, let token?):
      return state.withLock { state in
        if let last = state.snapshot, last.version == version, last.token == token { return last.bytes }
        let bytes = encoded()
        state.snapshot = Snapshot(version: version, token: token, bytes: bytes)
        return bytes
      }
    case .added, .removed, .current, .reset, .token, .snapshot, .documentRemoved, .filter: return encoded()
    }
  }
}
