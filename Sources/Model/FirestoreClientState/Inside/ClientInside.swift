// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The internal state of a client at one point in time, for diagnosis: targets, lookups, traffic, the clients of the
/// cache, and query times.
package struct ClientInside: Sendable {
  /// The time at which this state was read, by the client's clock.
  package var time: Timestamp
  /// The active targets, in ascending order of their ids. At most `listed` of them are included.
  package var targets: [TargetState]
  /// The number of active targets.
  package var targetCount: Int
  package var lookups: Lookups
  /// The clients that share the cache; `nil` if no other client can use the cache.
  package var peers: CachePeers?
  package var streams: [StreamUse]
  /// The queries that the cache answered recently, newest first.
  package var queries: [QueryTimes]
  package var beginning: Beginning
  package var connection: ConnectionState
  /// The pins and lifetimes of the cache.
  package var retentions: [Retention]
  /// Whether the cache is on disk.
  package var isDurable: Bool
  /// The local indexes.
  package var indexes: [IndexState]

  /// The durations of the parts of a client's start.
  package struct Beginning: Hashable, Sendable {
    /// The time that the client needed to open the cache and its write queue.
    package var opening: Duration
    /// The time from the first listener to the first snapshot; `nil` before the first snapshot.
    package var firstSnapshot: Duration?
    /// The time from the first listener to the first snapshot that is in sync with the server; `nil` before that
    /// snapshot.
    package var firstInSync: Duration?

    package init(opening: Duration = .zero, firstSnapshot: Duration? = nil, firstInSync: Duration? = nil) {
      self.opening = opening
      self.firstSnapshot = firstSnapshot
      self.firstInSync = firstInSync
    }
  }

  /// The maximum number of entries in each list.
  package static let listed = 200

  package init(
    time: Timestamp, targets: [TargetState] = [], targetCount: Int? = nil, lookups: Lookups = Lookups(),
    peers: CachePeers? = nil, streams: [StreamUse] = [], queries: [QueryTimes] = [],
    beginning: Beginning = Beginning(), connection: ConnectionState, retentions: [Retention] = [],
    isDurable: Bool = false, indexes: [IndexState] = []
  ) {
    self.time = time
    self.targets = Array(targets.prefix(Self.listed))
    self.targetCount = targetCount ?? targets.count
    self.lookups = lookups
    self.peers = peers
    self.streams = streams
    self.queries = queries
    self.beginning = beginning
    self.connection = connection
    self.retentions = retentions
    self.isDurable = isDurable
    self.indexes = indexes
  }
}

/// The lookups of documents in limbo: documents that a view shows although the backend did not list them.
package struct Lookups: Hashable, Sendable {
  package struct Lookup: Hashable, Sendable {
    package var key: DocumentKey
    /// The target that the lookup uses; `nil` if the lookup is queued.
    package var target: Int32?

    package init(_ key: DocumentKey, target: Int32?) {
      self.key = key
      self.target = target
    }
  }

  /// The running lookups, followed by the queued ones. At most `ClientInside.listed` of them are included.
  package var listed: [Lookup]
  package var asked: Int
  package var waiting: Int
  /// The maximum number of concurrent lookups.
  package var limit: Int

  package init(listed: [Lookup] = [], asked: Int = 0, waiting: Int = 0, limit: Int = 0) {
    self.listed = Array(listed.prefix(ClientInside.listed))
    self.asked = asked
    self.waiting = waiting
    self.limit = limit
  }
}

/// The clients that share a cache, and the lease that determines which of them runs the streams.
package struct CachePeers: Hashable, Sendable {
  package struct Member: Hashable, Sendable {
    /// The client's process id; `nil` if unknown.
    package var process: Int32?
    /// Whether this member is the client that reports this list.
    package var isSelf: Bool
    /// Whether the member has the lease, and therefore runs the streams for all members.
    package var hasLease: Bool
    package var usesNetwork: Bool
    /// Whether the member is visible to the user (in the foreground).
    package var isVisible: Bool
    /// The time at which the member last announced that it is alive.
    package var seen: Timestamp

    package init(
      process: Int32?, isSelf: Bool, hasLease: Bool, usesNetwork: Bool, isVisible: Bool, seen: Timestamp
    ) {
      self.process = process
      self.isSelf = isSelf
      self.hasLease = hasLease
      self.usesNetwork = usesNetwork
      self.isVisible = isVisible
      self.seen = seen
    }
  }

  package var members: [Member]
  /// The time at which the lease was last renewed; `nil` if no client has the lease.
  package var renewed: Timestamp?

  package init(members: [Member], renewed: Timestamp?) {
    self.members = members
    self.renewed = renewed
  }
}

/// The configured values with which a client's measurements are compared.
package struct InsideSettings: Hashable, Sendable {
  package var budget = LatencyBudget()
  package var price = ReadPrice()

  package init() {}
}

/// The latency limits that a user sets for a client.
package struct LatencyBudget: Hashable, Sendable {
  /// The maximum time to open the cache.
  package var opening = Duration.milliseconds(100)
  /// The maximum time from the first listener to its first snapshot.
  package var firstSnapshot = Duration.milliseconds(250)
  /// The maximum times for a query on the cache: one for the median of its runs, and one for the 99th percentile.
  package var median = Duration.milliseconds(5)
  package var p99 = Duration.milliseconds(50)

  package init() {}
}

/// The price of document reads, for cost estimates.
package struct ReadPrice: Hashable, Sendable {
  /// The price of 100 000 reads, in millionths of the currency.
  package var millionths: Int
  package var currency: String
  /// The month in which this price is assumed to apply, such as `2025-06`.
  package var asOf: String

  /// Creates a price. The default is the assumed list price of Cloud Firestore in the US multi-region nam5 in 2025-06.
  package init(millionths: Int = 60_000, currency: String = "USD", asOf: String = "2025-06") {
    self.millionths = millionths
    self.currency = currency
    self.asOf = asOf
  }
}
