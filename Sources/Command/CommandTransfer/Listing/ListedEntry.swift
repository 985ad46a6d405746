// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreModel

/// An entry of a listing.
package enum ListedEntry: Hashable, Sendable {
  /// - Parameter documents: the number of its documents, if they were counted.
  case collection(ResourcePath, documents: Int?)
  /// - Parameter exists: `false` for a document that is only the parent of others.
  case document(DocumentKey, exists: Bool)

  private var path: ResourcePath {
    switch self {
    case .collection(let path, _): path
    case .document(let key, _): key.path
    }
  }

  /// The names of the cells of an entry's row.
  package static let names = ["path", "type", "documents", "exists"]

  package var row: ListedRow {
    typealias Cell = ListedRow.Cell
    let (type, documents, exists): (String, Int?, String?) =
      switch self {
      case .collection(_, let documents): ("collection", documents, nil)
      case .document(_, let exists): ("document", nil, "\(exists)")
      }
    let cells = [
      Cell("path", path.text), Cell("type", type), Cell("documents", documents), Cell("exists", exists),
    ]
    return ListedRow(cells: cells, json: json, line: line)
  }

  /// The path, and behind two spaces the remarks about it.
  package var line: ShownText {
    let path = ShownText(path.text)
    switch self {
    case .collection(_, let documents?): return "\(path)  \(documents.documents)"
    case .document(_, exists: false): return "\(path)  missing"
    case .collection(_, nil), .document: return path
    }
  }

  package var json: String {
    let path = DocumentLine.quoted(path.text)
    switch self {
    case .collection(_, let documents):
      return "{\"path\": \(path), \"type\": \"collection\"\(documents.map { ", \"documents\": \($0)" } ?? "")}"
    case .document(_, let exists): return "{\"path\": \(path), \"type\": \"document\", \"exists\": \(exists)}"
    }
  }
}
