// SPDX-License-Identifier: Apache-2.0

/// What becomes of the snapshots of a sequence that nobody has asked for yet. None of the policies loses a change.
public enum SnapshotBufferingPolicy: Hashable, Sendable {
  /// They become one, which shows the newest state and all changes since the snapshot that was read last.
  case merged
  /// Each is kept for itself, as in the SDKs, as long as there are no more than this many; then the newest are merged.
  case separate(limit: Int)

  var capacity: Int {
    switch self {
    case .merged: 1
    case .separate(let limit): limit
    }
  }
}
