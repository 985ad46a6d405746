// SPDX-License-Identifier: Apache-2.0
import FirestoreQuery
import Foundation

/// One document that came, changed or went between two snapshots.
public struct DocumentChange: Sendable, Equatable {
  /// Whether the document came, changed or went.
  public let type: DocumentChangeType
  /// The document as it is now; of one that went, as it was last.
  public let document: QueryDocumentSnapshot
  /// Where the document was, given that the changes before this one are done; `NSNotFound` for an added one.
  public let oldIndex: Int
  /// Where the document is, given that the changes up to this one are done; `NSNotFound` for a removed one.
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

/// What happened to a document of a query's result.
public enum DocumentChangeType: Hashable, Sendable {
  /// The document matches now, matches with other data or metadata, or matches no longer.
  case added, modified, removed
}
