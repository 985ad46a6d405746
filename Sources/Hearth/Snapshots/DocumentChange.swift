// SPDX-License-Identifier: Apache-2.0
import FirestoreQuery
import Foundation

/// One document that came, changed or went between two snapshots.
public struct DocumentChange: Sendable, Equatable {
  public let type: DocumentChangeType
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

public enum DocumentChangeType: Hashable, Sendable {
  case added, modified, removed
}
