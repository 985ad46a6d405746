// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The part of a cache that is to leave by hand.
package enum EvictionScope: Codable, Hashable, Sendable {
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
