// SPDX-License-Identifier: Apache-2.0

/// Where a snapshot's data comes from.
public struct SnapshotMetadata: Sendable {
  /// The data contains writes that the backend has not acknowledged yet ("Local" rather than "Server").
  public let hasPendingWrites: Bool
  /// The data comes from the cache and may be stale or incomplete. False once it is complete and current with the
  /// backend.
  public let isFromCache: Bool
  /// Why the snapshot fired, in order; several where an unread snapshot was merged with later ones. Empty for reads
  /// that asked the cache only. Not part of equality.
  public let causes: [SnapshotCause]
}

extension SnapshotMetadata: Hashable {
  public static func == (left: SnapshotMetadata, right: SnapshotMetadata) -> Bool {
    left.hasPendingWrites == right.hasPendingWrites && left.isFromCache == right.isFromCache
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(hasPendingWrites)
    hasher.combine(isFromCache)
  }
}
