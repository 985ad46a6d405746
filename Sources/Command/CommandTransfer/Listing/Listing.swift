// SPDX-License-Identifier: Apache-2.0
import CommandOutput
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery

/// The collections and documents directly below the root, a document or a collection.
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

  /// - Throws: `notFound` for a document that neither exists nor has anything below it.
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
