// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The inside of a client at one moment, for people who want to know why it does what it does: what it watches, looks
/// up, sends and receives, who has the streams of its cache, and how long its queries took.
package struct ClientInside: Sendable {
  /// The time by the clock of the client's machine.
  package var time: Timestamp
  /// The targets that are watched, ascending by id; no more than `listed`.
  package var targets: [TargetState]
  /// The number of targets that are watched.
  package var targetCount: Int
  package var lookups: Lookups
  /// The clients of the cache; `nil` for a cache that no other client can use.
  package var company: CacheCompany?
  package var streams: [StreamUse]
  /// The queries that the cache answered lately, the newest first.
  package var queries: [QueryTimes]
  package var beginning: Beginning
  package var connection: ConnectionState
  /// The pins and lifetimes of the cache.
  package var retentions: [Retention]
  /// Whether the cache is on disk.
  package var isDurable: Bool
  /// The local indexes.
  package var indexes: [IndexState]

  /// The times that a client took before it was of use.
  package struct Beginning: Hashable, Sendable {
    /// The time that opening the cache and its queue of writes took.
    package var opening: Duration
    /// The time from the first listener to the first snapshot; `nil` before there was one.
    package var firstSnapshot: Duration?
    /// The time from the first listener to the first snapshot that was in sync with the server; `nil` before there was
    /// one.
    package var firstInSync: Duration?

    package init(opening: Duration = .zero, firstSnapshot: Duration? = nil, firstInSync: Duration? = nil) {
      self.opening = opening
      self.firstSnapshot = firstSnapshot
      self.firstInSync = firstInSync
    }
  }

  /// The largest number of entries in each list.
  package static let listed = 200

  package init(
    time: Timestamp, targets: [TargetState] = [], targetCount: Int? = nil, lookups: Lookups = Lookups(),
    company: CacheCompany? = nil, streams: [StreamUse] = [], queries: [QueryTimes] = [],
    beginning: Beginning = Beginning(), connection: ConnectionState, retentions: [Retention] = [],
    isDurable: Bool = false, indexes: [IndexState] = []
  ) {
    self.time = time
    self.targets = Array(targets.prefix(Self.listed))
    self.targetCount = targetCount ?? targets.count
    self.lookups = lookups
    self.company = company
    self.streams = streams
    self.queries = queries
    self.beginning = beginning
    self.connection = connection
    self.retentions = retentions
    self.isDurable = isDurable
    self.indexes = indexes
  }
}

/// The documents that a view shows although the backend did not list them ("limbo"), and that are asked for one by one.
package struct Lookups: Hashable, Sendable {
  package struct Lookup: Hashable, Sendable {
    package var key: DocumentKey
    /// The target of the question; `nil` for one that waits for its turn.
    package var target: Int32?

    package init(_ key: DocumentKey, target: Int32?) {
      self.key = key
      self.target = target
    }
  }

  /// The questions that are asked, then those that wait; no more than `ClientInside.listed`.
  package var listed: [Lookup]
  package var asked: Int
  package var waiting: Int
  /// The largest number of questions at a time.
  package var limit: Int

  package init(listed: [Lookup] = [], asked: Int = 0, waiting: Int = 0, limit: Int = 0) {
    self.listed = Array(listed.prefix(ClientInside.listed))
    self.asked = asked
    self.waiting = waiting
    self.limit = limit
  }
}

/// The clients that share a cache, and which of them has the streams.
package struct CacheCompany: Hashable, Sendable {
  package struct Member: Hashable, Sendable {
    /// The process; `nil` where it is not known.
    package var process: Int32?
    /// Whether the member is the client that tells this.
    package var isSelf: Bool
    /// Whether the member has the lease, and with it the streams of all.
    package var hasLease: Bool
    package var usesNetwork: Bool
    /// Whether a user looks at the member's screen.
    package var isVisible: Bool
    /// The time at which the member last said that it is there.
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
  /// The time at which the lease was last renewed; `nil` if no client has it.
  package var renewed: Timestamp?

  package init(members: [Member], renewed: Timestamp?) {
    self.members = members
    self.renewed = renewed
  }
}

/// The figures of a user's configuration with which those of the client are compared.
package struct InsideSettings: Hashable, Sendable {
  package var budget = LatencyBudget()
  package var price = ReadPrice()

  package init() {}
}

/// The times that a user wants a client to keep to.
package struct LatencyBudget: Hashable, Sendable {
  /// The time that opening the cache may take.
  package var opening = Duration.milliseconds(100)
  /// The time from the first listener to its first snapshot.
  package var firstSnapshot = Duration.milliseconds(250)
  /// The time of a query at the cache that half of the runs keep to, and 99 of 100.
  package var median = Duration.milliseconds(5)
  package var p99 = Duration.milliseconds(50)

  package init() {}
}

/// The price of reads that a bill is estimated with.
package struct ReadPrice: Hashable, Sendable {
  /// The price of 100 000 reads, in millionths of the currency.
  package var millionths: Int
  package var currency: String
  /// The month as of which the price is assumed: `2025-06`.
  package var asOf: String

  /// Cloud Firestore's list price in its multi-region of the USA (nam5), as it was assumed when this was written.
  package init(millionths: Int = 60_000, currency: String = "USD", asOf: String = "2025-06") {
    self.millionths = millionths
    self.currency = currency
    self.asOf = asOf
  }
}
