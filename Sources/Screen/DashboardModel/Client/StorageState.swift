// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The state of data and cache on disk, and the other processes that have the embedded data open.
package struct StorageState: Sendable {
  package private(set) var notice: StorageNotice?
  /// The processes that use the embedded data; `nil` for data in memory, and for servers.
  package private(set) var company: DataCompany?
  /// The queries whose results stay in the cache until this session ends.
  package private(set) var pins: [Query] = []

  /// The time after which documents leave the cache that the server has not confirmed, by collection, until this session
  /// ends.
  package private(set) var lifetimes: [ResourcePath: Duration] = [:]
  /// The time at which lifetimes are looked at next; `nil` while there are none.
  package private(set) var expiresAt: Timestamp?

  package init() {}

  /// The pause between two looks, in seconds.
  private static let pause: Int64 = 60

  /// Sets a collection's lifetime, or takes it away; the first look is at once.
  package mutating func setLifetime(_ lifetime: Duration?, of path: ResourcePath, at now: Timestamp) {
    lifetimes[path] = lifetime
    expiresAt = lifetimes.isEmpty ? nil : now
  }

  /// The lifetimes that are to be looked at.
  package mutating func takeDueLifetimes(at now: Timestamp) -> [(path: ResourcePath, lifetime: Duration)] {
    guard let due = expiresAt, due <= now else { return [] }
    expiresAt = now.advanced(seconds: Self.pause)
    return lifetimes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
  /// The process that had the data open last, as far as it was open.
  private var lastStanding: DataCompany.Standing?

  package mutating func note(_ notice: StorageNotice) { self.notice = notice }

  package mutating func pin(_ query: Query) { if !pins.contains(query) { pins.append(query) } }

  package mutating func unpin(_ query: Query) { pins.removeAll { $0 == query } }

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
