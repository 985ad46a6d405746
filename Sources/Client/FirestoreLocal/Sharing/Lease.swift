// SPDX-License-Identifier: Apache-2.0

/// The state of a client of a shared cache, as it announces it to the others.
package struct SharedClientState: Hashable, Sendable {
  package var usesNetwork: Bool
  /// Whether a user looks at the client's screen.
  package var isVisible: Bool

  package init(usesNetwork: Bool, isVisible: Bool) {
    self.usesNetwork = usesNetwork
    self.isVisible = isVisible
  }
}

/// The right to be the primary client, which has the streams of all clients (SPEC-FORMAT §11).
package enum Lease {
  /// The interval at which each client announces that it is there (SDK: CLIENT_METADATA_REFRESH_INTERVAL_MS).
  package static let refreshInterval = Duration.seconds(4)
  /// The time that a lease, or a client's announced state, holds, in microseconds (SDK: MAX_PRIMARY_ELIGIBLE_AGE_MS).
  static let maximumAge: Int64 = 5_000_000

  static func isFresh(_ time: Int64, at now: Int64) -> Bool { time <= now && now - time <= maximumAge }

  /// Whether a client may be primary from now on.
  /// - Parameters:
  ///   - lease: the client that is primary, and since when; `nil` if there is none, or it has ended.
  ///   - others: all other clients that are there.
  static func mayBeTaken(
    by client: Int64, _ state: SharedClientState, _ lease: (holder: Int64, time: Int64)?,
    others: [SharingTables.Client], at now: Int64
  ) -> Bool {
    if let lease, isFresh(lease.time, at: now) {
      if lease.holder != client { return false }
      if state.usesNetwork { return true }
    }
    if state.usesNetwork, state.isVisible { return true }
    return !others.contains { other in
      guard isFresh(other.alive, at: now) else { return false }
      if other.usesNetwork != state.usesNetwork { return other.usesNetwork }
      return other.isVisible && !state.isVisible
    }
  }

  /// The state of a client's lease after it looked at it again.
  package struct Refresh: Sendable {
    /// Whether the client is primary now.
    package var isHeld: Bool
    /// Whether the client took itself for primary, and was not any more.
    package var wasLost: Bool
  }
}
