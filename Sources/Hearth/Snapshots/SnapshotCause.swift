// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSync

/// Why a snapshot fired.
public enum SnapshotCause: Hashable, Sendable {
  /// The listener was added; this is its first snapshot, or catches it up.
  case listenerAdded
  /// A local write; the number is that of `PendingWrite.id`.
  case localWrite(Int64)
  case acknowledged(Int64)
  case rejected(Int64, FirestoreError)
  /// `cancelPendingWrite` took a write back.
  case cancelled(Int64)
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
  /// The cache, which had failed to answer, works again.
  case cacheRecovered
}

extension SnapshotCause: CustomStringConvertible {
  public var description: String {
    switch self {
    case .listenerAdded: "listener added"
    case .localWrite(let id): "local write #\(id)"
    case .acknowledged(let id): "write #\(id) acknowledged"
    case .rejected(let id, let error): "write #\(id) rejected: \(error.code.name)"
    case .cancelled(let id): "write #\(id) cancelled"
    case .server(let time): "changes from the server as of \(time.model.rfc3339Text)"
    case .networkDisabled: "network disabled"
    case .offline: "offline"
    case .limboResolved(let path): "looked up \(path)"
    case .existenceFilter: "the server's count differs from the cache"
    case .userChanged: "user changed"
    case .cacheRecovered: "the cache works again"
    case .bundleLoaded(let name): "bundle \(name) loaded"
    }
  }
}

extension SnapshotCause {
  init(_ cause: FirestoreSync.SnapshotCause) {
    self =
      switch cause {
      case .listenerAdded: .listenerAdded
      case .localWrite(let id): .localWrite(id.rawValue)
      case .acknowledged(let id): .acknowledged(id.rawValue)
      case .rejected(let id, let status): .rejected(id.rawValue, FirestoreError(status))
      case .cancelled(let id): .cancelled(id.rawValue)
      case .server(let version): .server(Timestamp(version.timestamp))
      case .networkDisabled: .networkDisabled
      case .offline: .offline
      case .limboResolved(let key): .limboResolved(path: key.path.text)
      case .existenceFilter: .existenceFilter
      case .userChanged: .userChanged
      case .cacheRecovered: .cacheRecovered
      case .bundleLoaded(let name): .bundleLoaded(name)
      }
  }
}
