// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
package import FirestoreSync
import Foundation

/// The result of a query at one moment, and the changes since the previous snapshot.
public struct QuerySnapshot: Sendable {
  /// The query that returned the documents.
  public let query: any Query
  /// The origin of the data.
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

  /// The changes since the previous snapshot; the first snapshot adds every document. Omits documents whose only change
  /// is in their metadata.
  public var documentChanges: [DocumentChange] { documentChanges(includeMetadataChanges: false) }

  /// The changes since the previous snapshot, with or without changes of metadata only.
  /// - Parameter includeMetadataChanges: whether documents with changes of metadata only count as modified. This only
  ///   has an effect for listeners with metadata changes.
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
  /// Whether both have the same query, the same documents in the same order, the same metadata and the same changes.
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
  /// The present document; for a removed one, its last state.
  public let document: QueryDocumentSnapshot
  /// The document's index before this change and after the changes before it; `NSNotFound` for an added document.
  public let oldIndex: Int
  /// The document's index after the changes up to this one; `NSNotFound` for a removed document.
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

/// The kind of change of a document of a query's result.
public enum DocumentChangeType: Hashable, Sendable {
  /// The document now matches, still matches with other data or metadata, or no longer matches.
  case added, modified, removed
}
