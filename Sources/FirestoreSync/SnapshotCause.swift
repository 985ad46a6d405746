// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Why a snapshot fired.
package enum SnapshotCause: Hashable, Sendable {
  case listenerAdded
  case localWrite(BatchID)
  case acknowledged(BatchID)
  case rejected(BatchID, RPCStatus)
  /// The user took a write back before it was sent.
  case cancelled(BatchID)
  case server(SnapshotVersion)
  case networkDisabled
  case offline
  case limboResolved(DocumentKey)
  case existenceFilter
  case userChanged
  case bundleLoaded(String)
  /// The cache, which had failed to answer, works again.
  case cacheRecovered

  /// Merged snapshots keep this many causes, the newest ones.
  static let limit = 16

  /// Both lists in order, each cause once, at most `limit`.
  static func merging(_ earlier: [SnapshotCause], _ later: [SnapshotCause]) -> [SnapshotCause] {
    let merged = earlier.filter { !later.contains($0) } + later
    return Array(merged.suffix(limit))
  }
}
