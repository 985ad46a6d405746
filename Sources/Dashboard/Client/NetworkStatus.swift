// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Everything about the connection that the header and pane 3 show.
package struct NetworkStatus: Hashable, Sendable {
  package enum Online: Hashable, Sendable { case unknown, online, offline }

  package struct Stream: Hashable, Sendable {
    package enum State: Hashable, Sendable {
      case closed, opening, open
      case backoff(until: Timestamp)
    }
    package var state: State
    package var lastError: RPCStatus?

    package init(_ state: State = .closed, lastError: RPCStatus? = nil) {
      self.state = state
      self.lastError = lastError
    }
  }

  /// The server at the other end.
  package struct Backend: Hashable, Sendable {
    /// `cloud` is somebody's real data: deleting there asks to type the name.
    package enum Kind: Hashable, Sendable { case embedded, emulator, cloud }
    package var kind: Kind
    package var project: String
    package var database: String
    /// `127.0.0.1:8080`; `nil` for the embedded backend.
    package var host: String?
    /// Whether the way there is encrypted.
    package var isTLS: Bool
    /// Who is signed in.
    package var user: String?

    package init(
      _ kind: Kind, project: String, database: String = "(default)", host: String? = nil, isTLS: Bool = false,
      user: String? = nil
    ) {
      self.kind = kind
      self.project = project
      self.database = database
      self.host = host
      self.isTLS = isTLS
      self.user = user
    }

    /// The host, and how it is spoken to where that is not the plain text of emulators.
    package var address: String? { host.map { isTLS ? $0 + " TLS" : $0 } }
  }

  package var online: Online
  /// Whether the user has left the network on.
  package var isNetworkEnabled: Bool
  /// Since when `online` holds.
  package var since: Timestamp
  /// Why the client is not online, in a few words; `nil` while it is.
  package var reason: String?
  /// Whether that is the cache, into which nothing can be written, and not the server.
  package var isCacheFailing: Bool
  /// When the next attempt begins, to connect or to write the cache; `nil` unless one is being waited for.
  package var retryAt: Timestamp?
  package var watch: Stream
  package var write: Stream
  package var activeTargets: Int
  package var inFlightWrites: Int
  /// When the newest resume token was received.
  package var lastSnapshotAt: Timestamp?
  /// Send to acknowledgement of recent batches, newest last.
  package var roundTrips: [Duration]
  /// The size of the cache; `nil` where it is not known.
  package var cacheByteCount: Int?
  /// Above which size the cache is collected; `nil` for never.
  package var cacheLimit: Int?
  /// Whether the cache, and what waits in it, is lost with the process.
  package var isCacheInMemory: Bool
  /// What the user must know about storage: a locked or corrupt cache, a full disk.
  package var storageNotice: String?
  /// The same in a few words, for the header: `IN MEMORY: cache locked`.
  package var storageBadge: String?
  package var backend: Backend

  package init(
    online: Online = .unknown, isNetworkEnabled: Bool = true, since: Timestamp, reason: String? = nil,
    isCacheFailing: Bool = false, retryAt: Timestamp? = nil, watch: Stream = Stream(),
    write: Stream = Stream(), activeTargets: Int = 0, inFlightWrites: Int = 0, lastSnapshotAt: Timestamp? = nil,
    roundTrips: [Duration] = [], cacheByteCount: Int? = nil, cacheLimit: Int? = nil,
    isCacheInMemory: Bool = false, storageNotice: String? = nil, storageBadge: String? = nil, backend: Backend
  ) {
    self.online = online
    self.isNetworkEnabled = isNetworkEnabled
    self.since = since
    self.reason = reason
    self.isCacheFailing = isCacheFailing
    self.retryAt = retryAt
    self.watch = watch
    self.write = write
    self.activeTargets = activeTargets
    self.inFlightWrites = inFlightWrites
    self.lastSnapshotAt = lastSnapshotAt
    self.roundTrips = roundTrips
    self.cacheByteCount = cacheByteCount
    self.cacheLimit = cacheLimit
    self.isCacheInMemory = isCacheInMemory
    self.storageNotice = storageNotice
    self.storageBadge = storageBadge
    self.backend = backend
  }
}

extension NetworkStatus {
  /// Whether listeners are served by the cache and writes wait.
  package var isOffline: Bool { !isNetworkEnabled || online == .offline }
}
