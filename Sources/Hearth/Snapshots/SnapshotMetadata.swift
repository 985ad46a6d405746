// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSync

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

/// Why a snapshot fired.
public enum SnapshotCause: Hashable, Sendable {
  /// The listener was added; this is its first snapshot, or catches it up.
  case listenerAdded
  /// A local write; the number is that of `PendingWrite.id`.
  case localWrite(Int64)
  case acknowledged(Int64)
  case rejected(Int64, FirestoreError)
  /// The backend sent changes, consistent as of this time.
  case server(Timestamp)
  /// `disableNetwork()`.
  case networkDisabled
  /// The backend cannot be reached.
  case offline
  /// A document that the backend had stopped mentioning was looked up.
  case limboResolved(path: String)
  /// The backend's count of documents disagreed with the cache.
  case existenceFilter
  case userChanged
  case bundleLoaded(String)
}

extension SnapshotCause {
  init(_ cause: FirestoreSync.SnapshotCause) {
    self =
      switch cause {
      case .listenerAdded: .listenerAdded
      case .localWrite(let id): .localWrite(id.rawValue)
      case .acknowledged(let id): .acknowledged(id.rawValue)
      case .rejected(let id, let status): .rejected(id.rawValue, FirestoreError(status))
      case .server(let version): .server(Timestamp(version.timestamp))
      case .networkDisabled: .networkDisabled
      case .offline: .offline
      case .limboResolved(let key): .limboResolved(path: key.path.text)
      case .existenceFilter: .existenceFilter
      case .userChanged: .userChanged
      case .bundleLoaded(let name): .bundleLoaded(name)
      }
  }
}
