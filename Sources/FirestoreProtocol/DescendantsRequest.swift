// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The documents at any depth below a path, in the order of their keys: those of a collection with all that is below
/// them, all that is below a document, or a whole database. One query that names no collection (PROTOCOL §3.7).
package struct DescendantsRequest: Hashable, Sendable {
  package var path: ResourcePath
  /// Where to go on; `nil` to begin.
  package var last: DocumentKey?
  package var limit: Int
  package var view: ReadView

  package init(_ path: ResourcePath, limit: Int, _ view: ReadView = .whole) {
    self.path = path
    self.limit = limit
    self.view = view
  }

  /// Asks for what comes after documents that were given.
  package mutating func pass(_ documents: [Document]) {
    limit -= documents.count
    if let key = documents.last?.key { last = key }
  }

  /// The query, whose path is the document below which it looks, or the root.
  package func target(in database: DatabaseID) -> Target {
    let isCollection = path.isCollection && !path.isRoot
    var (start, end): (Bound?, Bound?) = (nil, nil)
    if isCollection {
      // The least key in the collection, and in the least one that could follow it.
      start = Bound(values: [.reference(database, Self.firstKey(in: path))], isInclusive: true)
      let next = path.parent.appending(path.last + "\0")
      end = Bound(values: [.reference(database, Self.firstKey(in: next))], isInclusive: false)
    }
    if let last { start = Bound(values: [.reference(database, last)], isInclusive: false) }
    return Target(
      path: isCollection ? path.parent : path, filters: [], orderBy: [OrderBy(.documentID)], limit: limit, start: start,
      end: end)
  }

  /// Ids that are numbers sort before all others, by their numbers.
  private static func firstKey(in collection: ResourcePath) -> DocumentKey {
    DocumentKey(unchecked: collection.appending("__id\(Int64.min)__"))
  }
}
