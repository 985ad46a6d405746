// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreQuery

/// The state of data and cache on disk, and the other processes that have the embedded data open.
package struct StorageState: Sendable {
  package private(set) var notice: StorageNotice?
  /// The processes that use the embedded data; `nil` for data in memory, and for servers.
  package private(set) var company: DataCompany?
  /// The queries whose results stay in the cache until this session ends.
  package private(set) var pins: [Query] = []

  package init() {}
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
