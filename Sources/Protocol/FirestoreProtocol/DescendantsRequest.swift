// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A request for the documents at any depth below a path, in the order of their keys: of a collection with everything
/// below it, of everything below a document, or of a whole database. One query that names no collection (PROTOCOL
/// §3.7).
package struct DescendantsRequest: Hashable, Sendable {
  package var path: ResourcePath
  /// The last document that was given, after which to go on; `nil` to begin.
  package var last: DocumentKey?
  package var limit: Int
  package var view: ReadView

  package init(_ path: ResourcePath, limit: Int, _ view: ReadView = .latest) {
    self.path = path
    self.limit = limit
    self.view = view
  }

  /// Changes the request to ask for the documents after those that were given.
  package mutating func pass(_ documents: [Document]) {
    limit -= documents.count
    if let key = documents.last?.key { last = key }
  }

  /// The query, whose path is the document below which it searches, or the root.
  package func target(in database: DatabaseID) -> Target {
    let isCollection = path.isCollection && !path.isRoot
    var (start, end): (Bound?, Bound?) = (nil, nil)
    if isCollection {
      // The range begins with the least key in the collection, and ends with the least key in the next possible one.
      start = Bound(values: [.reference(database, Self.firstKey(in: path))], isInclusive: true)
      let next = path.parent.appending(path.last + "\0")
      end = Bound(values: [.reference(database, Self.firstKey(in: next))], isInclusive: false)
    }
    if let last { start = Bound(values: [.reference(database, last)], isInclusive: false) }
    return Target(
      path: isCollection ? path.parent : path, filters: [], orderBy: [OrderBy(.documentID)], limit: limit, start: start,
      end: end)
  }

  /// The least key in a collection: ids that are numbers sort before all others, by their numbers.
  private static func firstKey(in collection: ResourcePath) -> DocumentKey {
    DocumentKey(unchecked: collection.appending("__id\(Int64.min)__"))
  }
}
