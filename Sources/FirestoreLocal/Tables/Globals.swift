// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// Numbers that the cache keeps once.
struct Globals {
  enum Name: String {
    /// Microseconds.
    case lastRemoteSnapshotVersion = "last_remote_snapshot_version"
    /// Target ids are not used twice, also after their target was collected.
    case highestTargetID = "highest_target_id"
    /// Batches up to this number have left the queue; their numbers are not used again.
    case highestSettledBatch = "highest_settled_batch"
    /// Sequence numbers up to here may have been used.
    case reservedSequenceNumber = "reserved_sequence_number"
    /// The user whose overlays are up to date with the documents.
    case currentUser = "current_user"
    /// Tells this cache's batches from those of every other cache; drawn when the cache is made.
    case clientIdentity = "client_identity"
  }

  let connection: Connection

  /// Draws the cache's identity if it has none yet.
  func establishIdentity() throws(LocalStoreError) {
    try connection.run(
      "INSERT INTO globals (name, value) VALUES (?, random()) ON CONFLICT DO NOTHING", Name.clientIdentity.rawValue)
  }

  func value(_ name: Name) throws(LocalStoreError) -> Int64? {
    let stored = try connection.first("SELECT value FROM globals WHERE name = ?", name.rawValue) { $0.integer(0) }
    guard let value = stored else { return nil }
    let isPossible =
      switch name {
      case .clientIdentity: true
      case .lastRemoteSnapshotVersion: StoredNumbers.times.contains(value)
      case .highestTargetID, .highestSettledBatch, .reservedSequenceNumber, .currentUser:
        StoredNumbers.counters.contains(value)
      }
    guard isPossible else { throw StoredNumbers.damage(name.rawValue, value) }
    return value
  }

  func set(_ name: Name, _ value: Int64) throws(LocalStoreError) {
    try connection.run(
      "INSERT INTO globals (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", name.rawValue,
      value)
  }

  /// The read time of what is learnt now about a document: later than every snapshot in which a result was complete, so
  /// that a query that starts from such a result finds the document among the changed ones.
  /// - Parameter version: of the backend's snapshot that it is learnt from, if it comes from one.
  func readTime(in version: SnapshotVersion? = nil) throws(LocalStoreError) -> SnapshotVersion {
    let last = SnapshotVersion(microseconds: try value(.lastRemoteSnapshotVersion).map { $0 + 1 } ?? 1)
    return version.map { max($0, last) } ?? last
  }
}
