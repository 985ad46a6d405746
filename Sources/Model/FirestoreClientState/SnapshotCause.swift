// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The reason for a snapshot. To add a cause, add a case, its texts, and the code that reports it.
package enum SnapshotCause: Hashable, Sendable {
  /// The first snapshot of a listener.
  case listenerAdded
  case localWrite(BatchID)
  case acknowledged(BatchID)
  case rejected(BatchID, RPCStatus)
  /// The user canceled a write before it was sent.
  case cancelled(BatchID)
  /// The backend sent changes that are consistent as of this version.
  case server(SnapshotVersion)
  case networkDisabled
  /// The backend cannot be reached.
  case offline
  /// The client had cached a document that the backend did not list in the result, and looked it up.
  case limboResolved(DocumentKey)
  /// The backend's document count differed from the cache's count.
  case existenceFilter
  case userChanged
  case bundleLoaded(String)
  /// The cache works again after a failure.
  case cacheRecovered
}

extension SnapshotCause {
  /// Whether a message of the watch stream caused the snapshot.
  package var isFromServer: Bool {
    switch self {
    case .server, .limboResolved, .existenceFilter: true
    default: false
    }
  }
}

extension SnapshotCause {
  /// The texts that describe a cause.
  package struct Words: Hashable, Sendable {
    /// The machine-readable name, without spaces.
    package let name: String
    package let description: String
    /// The text for a row in the dashboard's feed of events; `nil` if other rows already show the cause.
    package let news: String?

    init(_ name: String, _ description: String, news: String? = nil) {
      self.name = name
      self.description = description
      self.news = news
    }
  }

  package var words: Words {
    switch self {
    case .listenerAdded: Words("listener-added", "listener added", news: "listener added")
    case .localWrite(let batch): Words("local-write", "local write \(batch)")
    case .acknowledged(let batch): Words("acknowledged", "write \(batch) acknowledged")
    case .rejected(let batch, let status): Words("rejected", "write \(batch) rejected: \(status.code.name)")
    case .cancelled(let batch): Words("cancelled", "write \(batch) cancelled")
    case .server(let version): Words("server", "changes from the server as of \(version.timestamp.rfc3339Text)")
    case .networkDisabled: Words("network-disabled", "network disabled", news: "you went offline")
    case .offline: Words("offline", "offline", news: "server out of reach")
    case .limboResolved(let key): Words("limbo-resolved", "looked up \(key)", news: "looked up \(key.documentID)")
    case .existenceFilter:
      Words(
        "existence-filter", "the server's count differs from the cache",
        news: "server's count differs from the cache")
    case .userChanged: Words("user-changed", "user changed", news: "another user signed in")
    case .bundleLoaded(let name): Words("bundle-loaded", "bundle \(name) loaded", news: "bundle \(name) loaded")
    case .cacheRecovered: Words("cache-recovered", "the cache works again", news: "the cache works again")
    }
  }

  /// Whether this device, and not the backend, caused the snapshot.
  package var isLocal: Bool {
    switch self {
    case .localWrite, .cancelled, .networkDisabled, .offline: true
    default: false
    }
  }

  /// The maximum number of causes in a merged snapshot. If there are more, only the newest ones are kept.
  private static let limit = 16

  /// The causes in both lists, in order and without duplicates. If there are more than sixteen, only the newest
  /// sixteen.
  package static func merging(_ earlier: [SnapshotCause], _ later: [SnapshotCause]) -> [SnapshotCause] {
    let merged = earlier.filter { !later.contains($0) } + later
    return Array(merged.suffix(limit))
  }
}
