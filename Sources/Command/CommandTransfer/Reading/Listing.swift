// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery

/// Lists the collections and documents directly below the root, a document or a collection.
package struct Listing: Sendable {
  package let datastore: any Datastore
  package let database: DatabaseID
  /// Whether the documents of collections are counted.
  package var counts = false
  /// The largest number of entries; `nil` for all.
  package var limit: Int?

  package init(datastore: any Datastore, database: DatabaseID, counts: Bool = false, limit: Int? = nil) {
    (self.datastore, self.database, self.counts, self.limit) = (datastore, database, counts, limit)
  }

  /// - Throws: `notFound` for a document that does not exist and has no descendants.
  package func visit(_ path: ResourcePath, _ body: (ListedEntry) throws -> Void) async throws {
    if path.isCollection {
      var members = CollectionMembers(of: path, at: datastore, database, limit: limit, projection: FieldMask([]))
      while let page = try await members.next() {
        for document in page { try body(.document(document.key, exists: document.exists)) }
      }
      return
    }
    let ids = try await datastore.listCollectionIDs(below: path)
    if ids.isEmpty, let key = DocumentKey(path), try await datastore.lookup([key]).first?.exists != true {
      throw CommandFailure(.notFound, "\(path) does not exist, and nothing is below it.")
    }
    for id in ids.prefix(limit ?? ids.count) {
      let collection = path.appending(id)
      let documents = counts ? try await datastore.count(Query(path: collection)) : nil
      try body(.collection(collection, documents: documents))
    }
  }
}

/// An entry of a listing.
package enum ListedEntry: Hashable, Sendable {
  /// - Parameter documents: the document count of the collection; `nil` if the documents were not counted.
  case collection(ResourcePath, documents: Int?)
  /// - Parameter exists: `false` for a document that does not exist but has descendants.
  case document(DocumentKey, exists: Bool)

  private var path: ResourcePath {
    switch self {
    case .collection(let path, _): path
    case .document(let key, _): key.path
    }
  }

  /// The names of the cells in each row.
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

  /// The path. Remarks follow after two spaces.
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

/// Prints everything below a path as a tree of lines: collections, whose lines end with a slash, their documents, and
/// so on. For a large collection, only the first documents are shown, followed by the count of the other documents.
package struct DataTree: Sendable {
  package struct Extent: Hashable, Sendable {
    package var collections = 0
    package var documents = 0

    package init(collections: Int = 0, documents: Int = 0) {
      (self.collections, self.documents) = (collections, documents)
    }
  }

  package let datastore: any Datastore
  package let database: DatabaseID
  /// The number of levels to show; `nil` for all.
  package var depth: Int?
  /// The largest number of documents to show per collection.
  package var limit: Int

  package init(datastore: any Datastore, database: DatabaseID, depth: Int? = nil, limit: Int) {
    (self.datastore, self.database, self.depth, self.limit) = (datastore, database, depth, limit)
  }

  /// - Parameter print: called with each line, from the top.
  /// - Returns: the numbers of collections and documents that were printed, without the path itself.
  /// - Throws: `notFound` for a document that does not exist and has no descendants.
  package func visit(_ path: ResourcePath, _ print: (ShownText) throws -> Void) async throws -> Extent {
    var extent = Extent()
    if let key = DocumentKey(path) {
      let exists = try await datastore.lookup([key]).first?.exists == true
      let ids = try await datastore.listCollectionIDs(below: path)
      if !exists, ids.isEmpty {
        throw CommandFailure(.notFound, "\(path) does not exist, and nothing is below it.")
      }
      try print("\(path.text)\(exists ? "" : Self.missing)")
      try await visit(collections: ids, below: path, level: 1, indent: "", &extent, print)
    } else if path.isRoot {
      try print("\(database.project)/\(database.database)")
      let ids = try await datastore.listCollectionIDs(below: .root)
      try await visit(collections: ids, below: path, level: 1, indent: "", &extent, print)
    } else {
      try print("\(path.text)/")
      try await visit(documentsOf: path, level: 1, indent: "", &extent, print)
    }
    return extent
  }

  private static let missing = "  missing"

  private func visit(
    collections ids: [String], below parent: ResourcePath, level: Int, indent: String, _ extent: inout Extent,
    _ print: (ShownText) throws -> Void
  ) async throws {
    guard level <= depth ?? level else { return }
    for (index, id) in ids.enumerated() {
      let isLast = index == ids.count - 1
      try print("\(indent)\(Self.branch(isLast))\(id)/")
      extent.collections += 1
      try await visit(
        documentsOf: parent.appending(id), level: level + 1, indent: indent + Self.stem(isLast), &extent, print)
    }
  }

  private func visit(
    documentsOf collection: ResourcePath, level: Int, indent: String, _ extent: inout Extent,
    _ print: (ShownText) throws -> Void
  ) async throws {
    guard level <= depth ?? level else { return }
    // One extra document shows whether there are more.
    var members = CollectionMembers(
      of: collection, at: datastore, database, limit: limit + 1, projection: FieldMask([]))
    var all: [Document] = []
    while let page = try await members.next() { all += page }
    let shown = all.prefix(limit)
    let isCut = all.count > shown.count
    let looksBelow = level < depth ?? .max
    let ids = looksBelow ? try await datastore.collectionIDs(below: shown.map(\.key)) : []
    for (index, document) in shown.enumerated() {
      let isLast = index == shown.count - 1 && !isCut
      let mark = document.exists ? "" : Self.missing
      try print("\(indent)\(Self.branch(isLast))\(document.key.documentID)\(mark)")
      extent.documents += document.exists ? 1 : 0
      guard looksBelow else { continue }
      try await visit(
        collections: ids[index], below: document.key.path, level: level + 1, indent: indent + Self.stem(isLast),
        &extent, print)
    }
    if isCut {
      let more = try await datastore.count(Query(path: collection)) - shown.count(where: \.exists)
      try print("\(indent)\(Self.branch(true))\(more > 0 ? "… \(more) more" : "…")")
    }
  }

  private static func branch(_ isLast: Bool) -> String { isLast ? "└── " : "├── " }
  private static func stem(_ isLast: Bool) -> String { isLast ? "    " : "│   " }
}
