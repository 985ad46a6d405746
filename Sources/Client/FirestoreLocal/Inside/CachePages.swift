// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreSQLite

/// A document as the backend had it, with the time as of which the cache has it.
package struct CachedDocument: Sendable {
  package var document: Document
  package var readTime: SnapshotVersion
}

/// The reading of all documents that a cache has, in pages between which the cache may be used and changed.
package struct CachePages: Sendable {
  /// The documents of a page, which takes some milliseconds.
  static let size = 200

  /// The document, or the collection with what is below it, that is read; `nil` for everything.
  let path: ResourcePath?
  var last: DocumentNumber?
  package internal(set) var isFinished = false

  package init(of path: ResourcePath? = nil) { self.path = path }

  func contains(_ key: DocumentKey) -> Bool { path.map { $0.isPrefix(of: key.path) } ?? true }
}

extension LocalStore {
  /// The next documents that exist, as the backend had them: pending writes are not in them.
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
