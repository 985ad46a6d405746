// SPDX-License-Identifier: Apache-2.0

/// The outcome of transitions for the outside: the effects that the one under way wants, and the number of changes so
/// far that `ClientStatus` shows.
struct SyncOutput: Sendable {
  private(set) var effects: [SyncEffect] = []
  private(set) var statusRevision = 0

  mutating func append(_ effect: SyncEffect) { effects.append(effect) }

  mutating func append(_ effects: [SyncEffect]) { self.effects += effects }

  /// Delivers snapshots in one go (S1); does nothing without any.
  mutating func deliver(_ snapshots: [SnapshotDelivery]) {
    if !snapshots.isEmpty { effects.append(.deliver(snapshots)) }
  }

  /// Notes that `ClientStatus` shows something else from now on.
  mutating func statusChanged() { statusRevision += 1 }

  /// Takes the effects, in order; ends the transition.
  mutating func takeEffects() -> [SyncEffect] {
    defer { effects = [] }
    return effects
  }
}
