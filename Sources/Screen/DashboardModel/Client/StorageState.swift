// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The state of data and cache on disk: pins, indexes, imports, exports, and the other processes that have the files
/// open.
package struct StorageState: Sendable {
  package private(set) var notice: StorageNotice?
  package var indexes = CacheIndexes()
  package var transfers = Transfers.none
  /// The processes that use the local database; `nil` for in-memory data and for servers.
  package private(set) var peers: DataPeers?
  /// The cache's pins and lifetimes, as the client last reported them.
  package private(set) var retentions: [Retention] = []
  /// The time of the next check for expired lifetimes; `nil` if none is scheduled.
  package private(set) var expiresAt: Timestamp?

  package init() {}

  /// The interval in seconds between two checks for expired lifetimes.
  private static let pause: Int64 = 60

  /// Stores the pins and lifetimes that the client reports. A new lifetime is checked immediately.
  package mutating func note(_ retentions: [Retention], at now: Timestamp) {
    let known = Set(self.retentions)
    self.retentions = retentions
    let lifetimes = retentions.filter { $0.lifetime != nil }
    if lifetimes.isEmpty {
      expiresAt = nil
    } else if expiresAt == nil || lifetimes.contains(where: { !known.contains($0) }) {
      expiresAt = now
    }
  }

  /// Whether a check of lifetimes is due.
  package mutating func takeDueLifetimes(at now: Timestamp) -> Bool {
    guard let due = expiresAt, due <= now else { return false }
    expiresAt = now.advanced(seconds: Self.pause)
    return true
  }

  /// The pin or the lifetime of a query; `nil` if it has none.
  package func retention(of target: Target, isPin: Bool) -> Retention? {
    retentions.first { $0.target == target && $0.kind.isPin == isPin }
  }

  /// The last known role of this process among the processes that use the data.
  private var lastRole: DataPeers.Role?

  package mutating func note(_ notice: StorageNotice) { self.notice = notice }

  /// Records which process has the data open. When another process takes over, requests can be delayed briefly.
  /// - Returns: the change of the process as text, or `nil` if nothing changed.
  package mutating func note(_ peers: DataPeers) -> String? {
    self.peers = peers
    // Reported as the reason of the outage that it causes, if it lasts.
    if case .unreachable = peers.role { return nil }
    let before = lastRole
    lastRole = peers.role
    switch (before, peers.role) {
    case (.attached(let owner), .owner):
      return "This process now has the data open, instead of \(owner.name) \(owner.process)."
    case (.some(let before), .attached(let owner)) where before != peers.role:
      return "\(owner.name) \(owner.process) has the data open now."
    default: return nil
    }
  }
}

/// The indexes of the cache, and whether the cache creates indexes automatically for queries that would benefit.
package struct CacheIndexes: Sendable {
  package private(set) var states: [IndexState] = []
  package private(set) var areMadeWhenNeeded = false

  package init() {}

  /// - Returns: whether the set of indexes in use has changed.
  package mutating func replace(with states: [IndexState]) -> Bool {
    let ready = { (states: [IndexState]) in states.filter { $0.backfill == nil } }
    defer { self.states = states }
    return ready(states) != ready(self.states)
  }

  package mutating func toggleCreation() { areMadeWhenNeeded.toggle() }
}

/// The running import or export, or the result of the last one. Only one runs at a time.
package enum Transfers: Sendable {
  case none
  case running(TransferState)
  case ended(TransferSummary)

  package var running: TransferState? { if case .running(let state) = self { state } else { nil } }
  package var last: TransferSummary? { if case .ended(let account) = self { account } else { nil } }
}
