// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel

/// The origin of a snapshot's data, and the causes of the snapshot.
public struct SnapshotMetadata: Sendable {
  /// Whether the data contains writes that the backend has not acknowledged yet ("Local" instead of "Server" in the
  /// Firebase documentation).
  public let hasPendingWrites: Bool
  /// Whether the data comes from the cache and may be stale or incomplete. `false` once the data is complete and in
  /// sync with the backend.
  public let isFromCache: Bool
  /// The reasons for the snapshot, in order. There are several if unread snapshots were merged. Empty for reads that
  /// use only the cache. Equality ignores the causes.
  public let causes: [SnapshotCause]
}

extension SnapshotMetadata: Hashable {
  /// Whether both values have the same `hasPendingWrites` and `isFromCache`, regardless of causes.
  public static func == (left: SnapshotMetadata, right: SnapshotMetadata) -> Bool {
    left.hasPendingWrites == right.hasPendingWrites && left.isFromCache == right.isFromCache
  }

  /// Hashes `hasPendingWrites` and `isFromCache`.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(hasPendingWrites)
    hasher.combine(isFromCache)
  }
}

/// The reason for a snapshot. Hearth reports the causes of every snapshot in `SnapshotMetadata.causes`; the SDKs do
/// not.
///
/// Compare a cause with the constants: `causes.contains(.networkDisabled)`. Later versions may add causes. Every cause
/// has a `name` and a `description`.
public struct SnapshotCause: Hashable, Sendable, CustomStringConvertible {
  private let cause: FirestoreClientState.SnapshotCause

  init(_ cause: FirestoreClientState.SnapshotCause) { self.cause = cause }

  /// The listener was added, and this is its first snapshot.
  public static let listenerAdded = SnapshotCause(.listenerAdded)
  /// A local write was made; the number is the write's `PendingWrite.id`.
  public static func localWrite(_ id: PendingWrite.ID) -> SnapshotCause { SnapshotCause(.localWrite(BatchID(id))) }
  /// The backend accepted a write.
  public static func acknowledged(_ id: PendingWrite.ID) -> SnapshotCause { SnapshotCause(.acknowledged(BatchID(id))) }
  /// The backend rejected a write, and the client undid the write's local effect.
  public static func rejected(_ id: PendingWrite.ID, _ error: FirestoreError) -> SnapshotCause {
    SnapshotCause(.rejected(BatchID(id), RPCStatus(error)))
  }
  /// `cancelPendingWrite` canceled a write.
  public static func cancelled(_ id: PendingWrite.ID) -> SnapshotCause { SnapshotCause(.cancelled(BatchID(id))) }
  /// The backend sent changes, which are consistent as of this time.
  public static func server(_ time: Timestamp) -> SnapshotCause { SnapshotCause(.server(SnapshotVersion(time.model))) }
  /// The program called `disableNetwork()`.
  public static let networkDisabled = SnapshotCause(.networkDisabled)
  /// The backend is unreachable.
  public static let offline = SnapshotCause(.offline)
  /// The client had cached a document that the backend did not list in the result, and looked it up.
  public static func limboResolved(path: String) -> SnapshotCause {
    SnapshotCause(.limboResolved(DocumentKey(unchecked: ResourcePath(path))))
  }
  /// The backend's document count for the query differed from the cache's count.
  public static let existenceFilter = SnapshotCause(.existenceFilter)
  /// Another user signed in.
  public static let userChanged = SnapshotCause(.userChanged)
  /// A bundle was loaded; `name` is the bundle's id.
  public static func bundleLoaded(_ name: String) -> SnapshotCause { SnapshotCause(.bundleLoaded(name)) }
  /// The cache works again after a failure.
  public static let cacheRecovered = SnapshotCause(.cacheRecovered)

  /// The name of the cause, as printed by `hearth watch --json`, such as `local-write`.
  public var name: String { cause.words.name }

  /// A short human-readable text, such as `write #3 acknowledged`.
  public var description: String { cause.words.description }

  /// The write that caused the snapshot; `nil` for other causes.
  public var write: PendingWrite.ID? {
    switch cause {
    case .localWrite(let id), .acknowledged(let id), .rejected(let id, _), .cancelled(let id): id.rawValue
    default: nil
    }
  }

  /// The backend's error for a rejected write; `nil` for other causes.
  public var error: FirestoreError? { if case .rejected(_, let status) = cause { FirestoreError(status) } else { nil } }
}
