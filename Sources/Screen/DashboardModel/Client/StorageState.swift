// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The state of data and cache on disk: who else has them open, the cache's pins and indexes, imports and exports.
package struct StorageState: Sendable {
  package private(set) var notice: StorageNotice?
  package var indexes = CacheIndexes()
  package var transfers = Transfers.none
  /// The processes that use the embedded data; `nil` for data in memory, and for servers.
  package private(set) var company: DataCompany?
  /// The pins and lifetimes of the cache, as the client told them last.
  package private(set) var retentions: [Retention] = []
  /// The time at which lifetimes are looked at next; `nil` while there are none.
  package private(set) var expiresAt: Timestamp?

  package init() {}

  /// The pause between two looks, in seconds.
  private static let pause: Int64 = 60

  /// Takes the news of pins and lifetimes; the first look at a new lifetime is at once.
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

  /// Whether lifetimes are to be looked at now.
  package mutating func takeDueLifetimes(at now: Timestamp) -> Bool {
    guard let due = expiresAt, due <= now else { return false }
    expiresAt = now.advanced(seconds: Self.pause)
    return true
  }

  /// The pin of a query, or its lifetime; `nil` if it has none.
  package func retention(of target: Target, isPin: Bool) -> Retention? {
    retentions.first { $0.target == target && $0.kind.isPin == isPin }
  }

  /// The process that had the data open last, as far as it was open.
  private var lastStanding: DataCompany.Standing?

  package mutating func note(_ notice: StorageNotice) { self.notice = notice }

  /// The news is which process has the data open: that it changed hands explains what was slow for a moment.
  /// - Returns: the news in words; `nil` where there is none.
  package mutating func note(_ company: DataCompany) -> String? {
    self.company = company
    // Told as the reason of the outage that it comes to, if it lasts.
    if case .unreachable = company.standing { return nil }
    let before = lastStanding
    lastStanding = company.standing
    switch (before, company.standing) {
    case (.attached(let owner), .owner):
      return "This process has the data open now, in place of \(owner.name) \(owner.process)."
    case (.some(let before), .attached(let owner)) where before != company.standing:
      return "\(owner.name) \(owner.process) has the data open now."
    default: return nil
    }
  }
}

/// The indexes of the cache, and whether it makes new ones where a query would gain by them.
package struct CacheIndexes: Sendable {
  package private(set) var states: [IndexState] = []
  package private(set) var areMadeWhenNeeded = false

  package init() {}

  /// - Returns: whether other indexes are in use than before.
  package mutating func replace(with states: [IndexState]) -> Bool {
    let ready = { (states: [IndexState]) in states.filter { $0.backfill == nil } }
    defer { self.states = states }
    return ready(states) != ready(self.states)
  }

  package mutating func toggleCreation() { areMadeWhenNeeded.toggle() }
}

/// The import or export that is under way, or else what the last one came to: there is one at a time.
package enum Transfers: Sendable {
  case none
  case running(TransferState)
  case ended(TransferAccount)

  package var running: TransferState? { if case .running(let state) = self { state } else { nil } }
  package var last: TransferAccount? { if case .ended(let account) = self { account } else { nil } }
}
