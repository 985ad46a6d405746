// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Why a snapshot fired.
package enum SnapshotCause: Hashable, Sendable {
  case listenerAdded
  case localWrite(BatchID)
  case acknowledged(BatchID)
  case rejected(BatchID, RPCStatus)
  case server(SnapshotVersion)
  case networkDisabled
  case offline
  case limboResolved(DocumentKey)
  case existenceFilter
  case userChanged
  case bundleLoaded(String)

  /// Merged snapshots keep this many causes, the newest ones.
  static let limit = 16

  /// Both lists in order, each cause once, at most `limit`.
  static func merging(_ earlier: [SnapshotCause], _ later: [SnapshotCause]) -> [SnapshotCause] {
    let merged = earlier.filter { !later.contains($0) } + later
    return Array(merged.suffix(limit))
  }
}
