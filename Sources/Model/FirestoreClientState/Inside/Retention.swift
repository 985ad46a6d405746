// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A pin or a lifetime for a query's documents. It is stored in the cache, applies to all clients of the cache, and
/// remains valid until it is removed.
package struct Retention: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The documents are never evicted.
    case pinned
    /// The documents are evicted when this time has passed since the server last confirmed them, unless a listener, a
    /// pin or a pending write refers to them.
    case lifetime(Duration)

    /// Whether a retention of one kind replaces a retention of the other kind for the same query.
    package func isOfSameKind(as other: Kind) -> Bool { isPin == other.isPin }

    package var isPin: Bool { self == .pinned }
  }

  /// The query whose documents are retained. The query's limit is ignored, so the retention covers all documents that
  /// match the conditions.
  package var target: Target
  package var kind: Kind
  /// The time at which the retention was requested, by the machine's clock.
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

/// The part of a cache to evict manually.
package enum EvictionScope: Hashable, Sendable {
  /// The documents of all collections, and all tombstones.
  case everything
  /// A document, or the documents directly in a collection, together with their tombstones.
  case path(ResourcePath)
  /// The documents whose server version matches a query, ignoring its limit.
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
