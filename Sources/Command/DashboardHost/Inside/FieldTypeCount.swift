// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// The counting of the types of a collection's fields, page by page in the order of the ids.
struct FieldTypeCount: Sendable {
  /// The number of documents of a page of a cache, which looks at all of the collection for each, and of an answer of
  /// another program.
  private static let read = 10_000
  static let answered = 500

  let path: ResourcePath
  private let database: DatabaseID
  private(set) var types = FieldTypes()
  private var last: DocumentKey?

  init(in path: ResourcePath, of database: DatabaseID) { (self.path, self.database) = (path, database) }

  /// The query for the next page.
  func page(limit: Int) -> Query {
    var query = Query(path: path, limit: limit)
    if let last { query.start = Bound(values: [.reference(database, last)], isInclusive: false) }
    return query
  }

  mutating func add(_ documents: [Document]) {
    for document in documents { types.add(document) }
    last = documents.last?.key ?? last
  }

  /// Counts the documents of a cache, away from the screen's thread.
  func run(over engine: SyncEngine) async throws(RPCStatus) -> FieldTypes {
    var count = self
    while true {
      let documents = try await engine.cachedDocuments(count.page(limit: Self.read)).documents
      count.add(documents)
      if documents.count < Self.read { return count.types }
    }
  }
}
