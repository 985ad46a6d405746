// SPDX-License-Identifier: Apache-2.0

/// What a client of a shared cache says of itself.
package struct SharedClientState: Hashable, Sendable {
  package var usesNetwork: Bool
  /// Somebody looks at what it shows.
  package var isVisible: Bool

  package init(usesNetwork: Bool, isVisible: Bool) {
    self.usesNetwork = usesNetwork
    self.isVisible = isVisible
  }
}

/// Which client is primary, which has the streams of all (SPEC-FORMAT §11).
package enum Lease {
  /// How often each client says that it is there (SDK: CLIENT_METADATA_REFRESH_INTERVAL_MS).
  package static let refreshInterval = Duration.seconds(4)
  /// In microseconds: how long a lease, or what a client said of itself, holds (SDK: MAX_PRIMARY_ELIGIBLE_AGE_MS).
  static let maximumAge: Int64 = 5_000_000

  static func isFresh(_ time: Int64, at now: Int64) -> Bool { time <= now && now - time <= maximumAge }

  /// Whether a client may be primary from now on.
  /// - Parameters:
  ///   - lease: who has it since when; `nil` if nobody has, or who had it is gone.
  ///   - others: all that are there besides the client.
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

  /// What became of a client's lease when it looked at it again.
  package struct Refresh: Sendable {
    /// It is primary now.
    package var isHeld: Bool
    /// It was thought to be primary, and was not any more.
    package var wasLost: Bool
  }
}
