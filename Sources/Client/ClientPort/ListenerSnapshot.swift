// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// One snapshot of a listener: its changes and their causes.
package struct ListenerSnapshot: Sendable {
  package struct Change: Sendable {
    package var kind: DocumentChange.Kind
    package var document: Document
    /// The document in the listener's previous snapshot; `nil` for an added document.
    package var previous: Document?
    /// The current state of a removed document; if the document was deleted, a missing document. `nil` if the state is
    /// unknown, or if the document was removed only because of the query's limit.
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
  /// Whether `isFromCache` differs from its value in the previous snapshot.
  package var syncStateChanged: Bool
  package var hasPendingWrites: Bool
  /// The number of documents that now match the query.
  package var count: Int
  package var causes: [SnapshotCause]
  /// The number of changes that `changes` does not contain; `nil` if `changes` is complete.
  package var omitted: Int?
  /// Whether the backend has ever sent a result for the query; `nil` if unknown.
  package var wasAsked: Bool?
  /// The time of the snapshot by the machine's clock; `nil` if the snapshot is reported immediately.
  package var time: Timestamp?

  package init(
    listener: ListenerTag, changes: [Change], isFromCache: Bool, syncStateChanged: Bool, hasPendingWrites: Bool,
    count: Int, causes: [SnapshotCause], omitted: Int? = nil, wasAsked: Bool? = nil, time: Timestamp? = nil
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
    self.time = time
  }
}

/// New results of a search that is still running.
package struct SearchUpdate: Sendable {
  /// The matches since the last update, up to the limit.
  package var hits: [Document]
  /// The total number of documents examined so far, and the total number of matches so far.
  package var looked: Int
  package var found: Int
  package var isDone: Bool
  package var isFromCache: Bool

  package init(hits: [Document], looked: Int, found: Int, isDone: Bool, isFromCache: Bool) {
    (self.hits, self.looked, self.found) = (hits, looked, found)
    (self.isDone, self.isFromCache) = (isDone, isFromCache)
  }
}
