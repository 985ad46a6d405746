// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A pin or a lifetime of the documents of a query, until it is taken back. It is stored in the cache, and holds for all
/// clients of the cache.
package struct Retention: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
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

/// The part of a cache that is to leave by hand.
package enum EvictionScope: Hashable, Sendable {
  /// The documents of all collections, and the knowledge of those that do not exist.
  case everything
  /// A document, or the documents directly in a collection, with the knowledge of those that do not exist.
  case path(ResourcePath)
  /// The documents that match a query as the server had them, its limit aside.
  case matching(Query)
  /// The knowledge alone that documents do not exist: of a collection, of one document, or of all for `nil`.
  case tombstones(ResourcePath?)

  /// The path that is meant; `nil` for all, and for a collection group.
  package var path: ResourcePath? {
    switch self {
    case .everything: nil
    case .path(let path): path
    case .matching(let query): query.collectionGroup == nil ? query.path : nil
    case .tombstones(let path): path
    }
  }

  package var isTombstones: Bool { if case .tombstones = self { true } else { false } }
}
