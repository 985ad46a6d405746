// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
package import FirestoreSQLite

extension LocalStore {
  /// Runs a query over the local views of the cached documents.
  /// - Parameter usingPreviousResults: whether the query may start from the last result that was in sync with the
  ///   backend, instead of reading the whole collection.
  package func execute(_ query: Query, usingPreviousResults: Bool) throws(StoreError) -> QueryResult {
    let target = try knownTarget(query.target)
    // The ledger uses the number of scanned documents instead if the extent cannot be read.
    let result = try queryLedger.time(query, extent: try? extent(of: query)) { () throws(StoreError) in
      try database.read { () throws(StoreError) in
        let engine = QueryEngine(local: localDocuments)
        return try database.connection.readingTransaction { () throws(StoreError) in
          try engine.execute(query, target, usingPreviousResults: usingPreviousResults)
        }
      }
    }
    if createsIndexesAutomatically {
      // An error does not affect the query's result. The next scan proposes the index again.
      try? AutomaticIndexes(database: database, minimumScan: minimumScanForIndexes).consider(query, result)
    }
    return result
  }

  /// The maximum number of documents that a query has to read, not counting documents that pending writes create.
  package func extent(of query: Query) throws(StoreError) -> Int {
    if query.isDocumentQuery { return 1 }
    return try database.read { () throws(StoreError) in
      var sum = 0
      for collection in try QueryEngine(local: localDocuments).collections(of: query) {
        sum += try database.documents.extent(of: collection)
      }
      return sum
    }
  }

  /// The local view of one document; `nil` for a document that is not in the cache.
  package func document(_ key: DocumentKey) throws(StoreError) -> Document? {
    try database.read { () throws(StoreError) in try localDocuments.document(key) }
  }

  /// The remote version of a document, without overlays.
  package func remoteDocument(_ key: DocumentKey) throws(StoreError) -> Document? {
    try database.read { () throws(StoreError) in try database.documents.document(key) }
  }

  /// The mutation that turns the remote document into the local view.
  package func overlay(of key: DocumentKey) throws(StoreError) -> Mutation? {
    try database.read { () throws(StoreError) in try localDocuments.overlay(of: key) }
  }

  /// The ids of the collections directly below a document or the root, sorted by UTF-8. Includes only collections that
  /// contain cached documents or pending writes at any depth.
  package func collectionIDs(below parent: ResourcePath) throws(StoreError) -> [String] {
    try database.read { () throws(StoreError) in try database.collections.ids(below: parent) }
  }
}

/// The backend's version of a document, with the read time that the cache stores for it.
package struct CachedDocument: Sendable {
  package var document: Document
  package var readTime: SnapshotVersion
}

/// Reads all documents of a cache in pages. Between pages, the cache may be used and changed.
package struct CachePages: Sendable {
  /// The number of documents in a page. Reading a page takes a few milliseconds.
  static let size = 200

  /// The document to read, or the collection to read with everything below it; `nil` for the whole cache.
  let path: ResourcePath?
  var last: DocumentNumber?
  package internal(set) var isFinished = false

  package init(of path: ResourcePath? = nil) { self.path = path }

  func contains(_ key: DocumentKey) -> Bool { path.map { $0.isPrefix(of: key.path) } ?? true }
}

extension LocalStore {
  /// The next page of existing documents, in the backend's version without pending writes.
  package func nextPage(_ pages: inout CachePages) throws(StoreError) -> [CachedDocument] {
    let database = database
    var next = pages
    let documents = try database.read { () throws(StoreError) in try database.page(&next) }
    pages = next
    return documents
  }
}

extension CacheDatabase {
  fileprivate func page(_ pages: inout CachePages) throws(StoreError) -> [CachedDocument] {
    var (documents, count, last): ([CachedDocument], Int, DocumentNumber?) = ([], 0, pages.last)
    let (collections, wanted) = (collections, pages)
    try connection.forEachRow(
      """
      SELECT id, collection, name, version, create_time, state, fields, checksum, read_time FROM documents
      WHERE id > ? ORDER BY id LIMIT ?
      """, last?.rawValue ?? .min, CachePages.size
    ) { row throws(StoreError) in
      count += 1
      let stored = DocumentRow(row)
      last = stored.number
      guard stored.isFound else { return }
      let key = try collections.key(stored.collection, stored.name)
      guard wanted.contains(key), let document = try stored.document(key) else { return }
      documents.append(
        CachedDocument(document: document, readTime: SnapshotVersion(microseconds: row.integer(8))))
    }
    pages.last = last
    pages.isFinished = count < CachePages.size
    return documents
  }
}
