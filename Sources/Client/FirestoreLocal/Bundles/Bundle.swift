// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery
import FirestoreSQLite

/// Query results that were packed at the backend, to fill caches without asking it.
package struct Bundle: Sendable {
  package struct NamedQuery: Sendable {
    package var name: String
    package var query: Query
    /// The version that the query's result reflects.
    package var readTime: SnapshotVersion

    package init(name: String, query: Query, readTime: SnapshotVersion) {
      self.name = name
      self.query = query
      self.readTime = readTime
    }
  }

  package struct Entry: Sendable {
    /// `found`, or `missing` at the time when it was read.
    package var document: Document
    /// The named queries whose result contains the document.
    package var queries: [String]
    /// The number of bytes of the bundle up to the end of the entry.
    package var byteEnd: Int

    package init(document: Document, queries: [String], byteEnd: Int = 0) {
      self.document = document
      self.queries = queries
      self.byteEnd = byteEnd
    }
  }

  package var id: String
  /// A bundle replaces one of the same id that was created earlier.
  package var createTime: SnapshotVersion
  package var queries: [NamedQuery]
  package var entries: [Entry]

  package init(id: String, createTime: SnapshotVersion, queries: [NamedQuery] = [], entries: [Entry] = []) {
    self.id = id
    self.createTime = createTime
    self.queries = queries
    self.entries = entries
  }
}

/// The loaded bundles, and the queries that they named.
struct BundleTable {
  static let schema = """
    CREATE TABLE bundles (
      id TEXT PRIMARY KEY,
      create_time INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE named_queries (
      name TEXT PRIMARY KEY,
      query BLOB NOT NULL,
      read_time INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  let connection: Connection

  func createTime(of id: String) throws(StoreError) -> SnapshotVersion? {
    try connection.integer("SELECT create_time FROM bundles WHERE id = ?", id).map { SnapshotVersion(microseconds: $0) }
  }

  func set(_ id: String, _ createTime: SnapshotVersion) throws(StoreError) {
    try connection.run(
      """
      INSERT INTO bundles (id, create_time) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET create_time = excluded.create_time
      """, id, createTime.microseconds)
  }

  func query(named name: String) throws(StoreError) -> Bundle.NamedQuery? {
    try connection.first("SELECT query, read_time FROM named_queries WHERE name = ?", name) {
      row throws(StoreError) in
      do throws(ModelError) {
        let query = try Query(decoding: row.blob(0))
        return Bundle.NamedQuery(name: name, query: query, readTime: SnapshotVersion(microseconds: row.integer(1)))
      } catch {
        throw .damaged("a named query cannot be read (\(error.message))")
      }
    }
  }

  func set(_ query: Bundle.NamedQuery) throws(StoreError) {
    try connection.run(
      """
      INSERT INTO named_queries (name, query, read_time) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET query = excluded.query, read_time = excluded.read_time
      """, query.name, query.query.encoded(), query.readTime.microseconds)
  }
}
