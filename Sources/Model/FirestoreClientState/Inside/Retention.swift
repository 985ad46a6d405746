// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A pin or a lifetime of the documents of a query, until it is taken back. It is stored in the cache, and holds for all
/// clients of the cache.
package struct Retention: Codable, Hashable, Sendable {
  package enum Kind: Codable, Hashable, Sendable {
    /// The documents do not leave the cache.
    case pinned
    /// The documents leave the cache so long after the server last confirmed them, unless something holds them.
    case lifetime(Duration)

    /// Whether one takes the place of the other for the same query.
    package func isOfSameKind(as other: Kind) -> Bool { isPin == other.isPin }

    package var isPin: Bool { self == .pinned }
  }

  /// The query; a limit does not count, so that all that match its conditions are meant.
  package var target: Target
  package var kind: Kind
  /// The time by the clock of the machine at which it was asked for.
  package var since: Timestamp

  package init(_ target: Target, _ kind: Kind, since: Timestamp) {
    self.target = target
    self.kind = kind
    self.since = since
  }

  package var lifetime: Duration? { if case .lifetime(let time) = kind { time } else { nil } }

  /// Whether both say the same kind of thing about the same query.
  package func replaces(_ other: Retention) -> Bool { target == other.target && kind.isOfSameKind(as: other.kind) }
}
