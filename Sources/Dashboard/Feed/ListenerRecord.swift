// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A listener of the dashboard and what its last snapshot said.
package struct ListenerRecord: Sendable {
  package let tag: ListenerTag
  package var name: String
  package var query: Query
  package var options: ListenerOptions
  package var isFromCache = true
  package var hasPendingWrites = false
  /// Documents in the last snapshot; `nil` before the first.
  package var count: Int?
  package var failure: RPCStatus?

  /// Whether the listener watches a collection, as a collection or as part of a group.
  func covers(_ collection: ResourcePath) -> Bool {
    if let group = query.collectionGroup {
      return group.equalsUTF8(collection.last) && query.path.isPrefix(of: collection)
    }
    return query.path == collection || (query.path.isDocument && query.path.parent == collection)
  }

  /// The name of a listener that the user gave none: `orders`, `orders/open?` for filtered ones.
  package static func defaultName(for query: Query) -> String {
    if let group = query.collectionGroup { return "**/" + group }
    return query.matchesAllDocuments || query.isDocumentQuery ? query.path.text : query.path.text + "?"
  }
}
