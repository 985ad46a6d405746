// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// Which bundles were loaded, and the queries that they named.
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

  private let find: Statement
  private let store: Statement
  private let findQuery: Statement
  private let storeQuery: Statement

  init(_ connection: Connection) throws(LocalStoreError) {
    find = try connection.prepare("SELECT create_time FROM bundles WHERE id = ?")
    store = try connection.prepare(
      """
      INSERT INTO bundles (id, create_time) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET create_time = excluded.create_time
      """)
    findQuery = try connection.prepare("SELECT query, read_time FROM named_queries WHERE name = ?")
    storeQuery = try connection.prepare(
      """
      INSERT INTO named_queries (name, query, read_time) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET query = excluded.query, read_time = excluded.read_time
      """)
  }

  func createTime(of id: String) throws(LocalStoreError) -> SnapshotVersion? {
    try find.bind(id, at: 1).first { SnapshotVersion(microseconds: $0.integer(0)) }
  }

  func set(_ id: String, _ createTime: SnapshotVersion) throws(LocalStoreError) {
    try store.bind(id, at: 1).bind(createTime.microseconds, at: 2).run()
  }

  func query(named name: String) throws(LocalStoreError) -> Bundle.NamedQuery? {
    try findQuery.bind(name, at: 1).first { row throws(LocalStoreError) in
      do throws(ModelError) {
        let query = try Query(decoding: row.blob(0))
        return Bundle.NamedQuery(name: name, query: query, readTime: SnapshotVersion(microseconds: row.integer(1)))
      } catch {
        throw LocalStoreError(.corrupt, "The cache is damaged: a named query cannot be read (\(error.message)).")
      }
    }
  }

  func set(_ query: Bundle.NamedQuery) throws(LocalStoreError) {
    storeQuery.bind(query.name, at: 1).bind(query.query.encoded(), at: 2)
    try storeQuery.bind(query.readTime.microseconds, at: 3).run()
  }
}
