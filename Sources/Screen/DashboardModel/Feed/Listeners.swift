// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A listener of the dashboard, with the facts of its last snapshot.
package struct ListenerRecord: Codable, Sendable {
  package let tag: ListenerTag
  package var name: String
  package var query: Query
  package var options: ListenerOptions
  package var isFromCache = true
  package var hasPendingWrites = false
  /// The number of documents in the last snapshot; `nil` before the first.
  package var count: Int?
  package var failure: RPCStatus?

  /// Whether the listener watches a collection, as a collection or as part of a group.
  package func covers(_ collection: ResourcePath) -> Bool {
    if let group = query.collectionGroup {
      return group.equalsUTF8(collection.last) && query.path.isPrefix(of: collection)
    }
    return query.path == collection || (query.path.isDocument && query.path.parent == collection)
  }
}

/// One snapshot of a listener: its changes and their causes.
package struct ListenerSnapshot: Codable, Sendable {
  package struct Change: Codable, Sendable {
    package var kind: DocumentChange.Kind
    package var document: Document
    /// The document in the listener's previous snapshot; `nil` for an added one.
    package var previous: Document?
    /// The present document behind a removed one: missing if it was deleted. `nil` where only the limit keeps it out,
    /// or where it is not known.
    package var now: Document?

    package init(
      _ kind: DocumentChange.Kind, _ document: Document, previous: Document? = nil, now: Document? = nil
    ) {
      self.kind = kind
      self.document = document
      self.previous = previous
      self.now = now
    }

    /// The document after the change.
    package var after: Document { now ?? document }
  }

  package var listener: ListenerTag
  package var changes: [Change]
  package var isFromCache: Bool
  /// Whether `isFromCache` differs from the previous snapshot's.
  package var syncStateChanged: Bool
  package var hasPendingWrites: Bool
  /// The number of documents that the query matches now.
  package var count: Int
  package var causes: [SnapshotCause]
  /// The number of changes left out of `changes`; `nil` if none are.
  package var omitted: Int?
  /// Whether the backend has ever answered the query; `nil` where that is not told.
  package var wasAsked: Bool?

  package init(
    listener: ListenerTag, changes: [Change], isFromCache: Bool, syncStateChanged: Bool, hasPendingWrites: Bool,
    count: Int, causes: [SnapshotCause], omitted: Int? = nil, wasAsked: Bool? = nil
  ) {
    self.listener = listener
    self.changes = changes
    self.isFromCache = isFromCache
    self.syncStateChanged = syncStateChanged
    self.hasPendingWrites = hasPendingWrites
    self.count = count
    self.causes = causes
    self.omitted = omitted
    self.wasAsked = wasAsked
  }
}
