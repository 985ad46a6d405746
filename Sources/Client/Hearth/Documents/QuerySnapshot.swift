// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
package import FirestoreSync
import Foundation

/// The result of a query at one point in time, and the changes since the previous snapshot.
public struct QuerySnapshot: Sendable {
  /// The query that returned the documents.
  public let query: any Query
  /// Information about the origin of the data.
  public let metadata: SnapshotMetadata
  private let view: ViewSnapshot

  package init(_ view: ViewSnapshot, of query: any Query) {
    self.view = view
    self.query = query
    metadata = SnapshotMetadata(
      hasPendingWrites: view.hasPendingWrites, isFromCache: view.isFromCache,
      causes: view.causes.map(SnapshotCause.init))
  }

  /// Whether the result is empty.
  public var isEmpty: Bool { view.documents.isEmpty }
  /// The document count of the result.
  public var count: Int { view.documents.count }

  /// The documents in the query's order.
  public var documents: [QueryDocumentSnapshot] { view.documents.documents.map(snapshot) }

  /// The changes since the previous snapshot. In the first snapshot, every document counts as added. Changes that
  /// concern only a document's metadata are omitted.
  public var documentChanges: [DocumentChange] { documentChanges(includeMetadataChanges: false) }

  /// The changes since the previous snapshot, with or without changes that concern only metadata.
  /// - Parameter includeMetadataChanges: whether a document counts as modified if only its metadata changed. Has an
  ///   effect only for listeners that include metadata changes.
  public func documentChanges(includeMetadataChanges: Bool) -> [DocumentChange] {
    if view.onlyAdds {
      // Documents are added in their final order, so each index is already final.
      return view.changes.map { change in
        DocumentChange(.added, snapshot(change.document), from: nil, to: view.documents.index(of: change.document.key))
      }
    }
    var positions = view.oldDocuments
    return view.changes.compactMap { change in
      if change.kind == .metadata, !includeMetadataChanges { return nil }
      var oldIndex: Int?
      var newIndex: Int?
      if change.kind != .added {
        oldIndex = positions.index(of: change.document.key)
        positions.remove(change.document.key)
      }
      if change.kind != .removed {
        positions.insert(change.document)
        newIndex = positions.index(of: change.document.key)
      }
      return DocumentChange(change.kind, snapshot(change.document), from: oldIndex, to: newIndex)
    }
  }

  private func snapshot(_ document: Document) -> QueryDocumentSnapshot {
    QueryDocumentSnapshot(
      content: DocumentContent(
        firestore: query.firestore, key: document.key, document: document,
        metadata: SnapshotMetadata(
          hasPendingWrites: view.mutatedKeys.contains(document.key), isFromCache: view.isFromCache,
          causes: metadata.causes)))
  }
}

extension QuerySnapshot: Equatable {
  /// Whether both snapshots have the same query, the same documents in the same order, the same metadata and the same
  /// changes.
  public static func == (left: QuerySnapshot, right: QuerySnapshot) -> Bool {
    left.query == right.query && left.metadata == right.metadata && left.documents == right.documents
      && left.documentChanges == right.documentChanges
  }
}

extension QuerySnapshot: Sequence {
  /// The documents in the query's order.
  public func makeIterator() -> IndexingIterator<[QueryDocumentSnapshot]> { documents.makeIterator() }
}

/// A document that was added, modified or removed between two snapshots.
public struct DocumentChange: Sendable, Equatable {
  /// The kind of the change.
  public let type: DocumentChangeType
  /// The current document; for a removed document, its last state.
  public let document: QueryDocumentSnapshot
  /// The document's index after all preceding changes, but before this change; `NSNotFound` for an added document.
  public let oldIndex: Int
  /// The document's index after this change and all preceding changes; `NSNotFound` for a removed document.
  public let newIndex: Int

  init(_ kind: FirestoreQuery.DocumentChange.Kind, _ document: QueryDocumentSnapshot, from old: Int?, to new: Int?) {
    type =
      switch kind {
      case .added: .added
      case .modified, .metadata: .modified
      case .removed: .removed
      }
    self.document = document
    oldIndex = old ?? NSNotFound
    newIndex = new ?? NSNotFound
  }
}

/// The kind of a change to a document in a query's result.
public enum DocumentChangeType: Hashable, Sendable {
  /// `added`: the document now matches. `modified`: it still matches, with other data or metadata. `removed`: it no
  /// longer matches.
  case added, modified, removed
}
