// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A rule for keeping or evicting a query's documents: a pin or a lifetime. It is stored in the cache, applies to all
/// clients of the cache, and remains valid until it is removed.
package struct Retention: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// A pin: the documents are never evicted.
    case pinned
    /// A lifetime: the documents are evicted when this time has passed since the server last confirmed them. A document
    /// is kept while a listener, a pin or a pending write refers to it.
    case lifetime(Duration)

    /// Whether both kinds are pins or both are lifetimes. A new retention replaces one of the same kind for the same
    /// query.
    package func isOfSameKind(as other: Kind) -> Bool { isPin == other.isPin }

    package var isPin: Bool { self == .pinned }
  }

  /// The query to whose documents the rule applies. The query's limit is ignored, so the rule applies to all documents
  /// that match the conditions.
  package var target: Target
  package var kind: Kind
  /// The time at which the retention was created, by the machine's clock.
  package var since: Timestamp

  package init(_ target: Target, _ kind: Kind, since: Timestamp) {
    self.target = target
    self.kind = kind
    self.since = since
  }

  package var lifetime: Duration? { if case .lifetime(let time) = kind { time } else { nil } }

  /// Whether both retentions have the same query and the same kind.
  package func replaces(_ other: Retention) -> Bool { target == other.target && kind.isOfSameKind(as: other.kind) }
}

/// The part of a cache that an explicit eviction removes.
package enum EvictionScope: Hashable, Sendable {
  /// The documents of all collections, and all tombstones.
  case everything
  /// A document, or the documents directly in a collection, together with their tombstones.
  case path(ResourcePath)
  /// The documents whose server version matches a query, ignoring the query's limit.
  case matching(Query)
  /// Only the tombstones of a collection or of one document; `nil` for all tombstones.
  case tombstones(ResourcePath?)

  /// The path of the scope; `nil` for the scope `everything` and for a collection group.
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
