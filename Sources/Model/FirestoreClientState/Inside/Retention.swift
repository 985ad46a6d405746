// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A pin or a lifetime of a query's documents, valid until it is removed. It is stored in the cache and applies to all
/// clients of the cache.
package struct Retention: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The documents are never evicted.
    case pinned
    /// The documents are evicted this long after the server last confirmed them, unless a listener, a pin or a pending
    /// write refers to them.
    case lifetime(Duration)

    /// Whether one of the two replaces the other one for the same query.
    package func isOfSameKind(as other: Kind) -> Bool { isPin == other.isPin }

    package var isPin: Bool { self == .pinned }
  }

  /// The query. Its limit is ignored: the retention covers all documents that match the conditions.
  package var target: Target
  package var kind: Kind
  /// The time of the request by the machine's clock.
  package var since: Timestamp

  package init(_ target: Target, _ kind: Kind, since: Timestamp) {
    self.target = target
    self.kind = kind
    self.since = since
  }

  package var lifetime: Duration? { if case .lifetime(let time) = kind { time } else { nil } }

  /// Whether both have the same query and the same kind.
  package func replaces(_ other: Retention) -> Bool { target == other.target && kind.isOfSameKind(as: other.kind) }
}

/// The part of a cache to evict manually.
package enum EvictionScope: Hashable, Sendable {
  /// The documents of all collections, and all tombstones.
  case everything
  /// A document, or the documents directly in a collection, with their tombstones.
  case path(ResourcePath)
  /// The documents whose server version matches a query, ignoring its limit.
  case matching(Query)
  /// Only tombstones, of a collection or of one document. `nil` for all tombstones.
  case tombstones(ResourcePath?)

  /// The path of the scope; `nil` for everything, and for a collection group.
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
