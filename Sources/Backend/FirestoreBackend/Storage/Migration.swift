// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite

/// One step from an empty file to today's tables. A file remembers its finished steps by their names, in a table whose
/// name is that of a library which once performed them.
struct Migration {
  private let name: String
  private let sql: String

  private static let all = [
    Migration(
      name: "2 documents, changes and history",
      sql: """
        CREATE TABLE backend (instance BLOB NOT NULL);
        INSERT INTO backend VALUES (randomblob(8));
        CREATE TABLE databases (
          id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, version INTEGER NOT NULL, pruned INTEGER NOT NULL,
          history_start INTEGER NOT NULL
        );
        CREATE TABLE collections (
          id INTEGER PRIMARY KEY, database INTEGER NOT NULL, path BLOB NOT NULL, name BLOB NOT NULL,
          count INTEGER NOT NULL DEFAULT 0, UNIQUE (database, path)
        );
        CREATE INDEX collections_by_name ON collections (database, name);
        CREATE TABLE documents (
          id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, name BLOB NOT NULL,
          version INTEGER NOT NULL, created INTEGER NOT NULL, fields BLOB NOT NULL
        );
        CREATE UNIQUE INDEX documents_by_name ON documents (collection, name);
        CREATE TABLE changes (
          database INTEGER NOT NULL, version INTEGER NOT NULL, collection INTEGER NOT NULL, name BLOB NOT NULL,
          deleted INTEGER NOT NULL, PRIMARY KEY (database, version, collection, name)
        ) WITHOUT ROWID;
        CREATE TABLE history (
          id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, name BLOB NOT NULL, until INTEGER NOT NULL,
          version INTEGER NOT NULL, created INTEGER NOT NULL, fields BLOB NOT NULL
        );
        CREATE UNIQUE INDEX history_by_name ON history (collection, name, until);
        CREATE TABLE applied_requests (
          database INTEGER NOT NULL, client BLOB NOT NULL, batch INTEGER NOT NULL,
          version INTEGER NOT NULL, results BLOB NOT NULL, PRIMARY KEY (database, client, batch)
        ) WITHOUT ROWID;
        """),
    Migration(name: "3 contents of applied requests", sql: AppliedRequests.schema),
    // The end of the log is noted from this step on. A program that does not note it must not write to the file.
    Migration(name: "4 noted end of the log", sql: ""),
    // The version of a database is that of its last recorded change from this step on, if that is later than the noted
    // one. A program that reads the noted one alone would give versions again.
    Migration(name: "5 versions by changes", sql: ""),
  ]

  /// - Throws: `newerSchema` for a file with finished steps that this program does not know.
  static func refuseNewer(_ connection: Connection) throws(StoreError) {
    let known = Set(all.map(\.name))
    guard try known.isSuperset(of: taken(connection)) else {
      throw StoreError(
        .newerSchema, "The backend's data was written by a newer Hearth. Update, or choose another directory.")
    }
  }

  /// Performs the steps that are left, each in a transaction.
  static func perform(on connection: Connection) throws(StoreError) {
    let taken = try taken(connection)
    if taken.isEmpty {
      try connection.execute("CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    }
    for step in all where !taken.contains(step.name) {
      try connection.transaction { () throws(StoreError) in
        try connection.execute(step.sql)
        try connection.run("INSERT INTO grdb_migrations VALUES (?)", step.name)
      }
    }
  }

  private static func taken(_ connection: Connection) throws(StoreError) -> [String] {
    guard try connection.exists("SELECT 1 FROM sqlite_master WHERE name = 'grdb_migrations'") else { return [] }
    return try connection.all("SELECT identifier FROM grdb_migrations", as: { $0.text(0) })
  }
}
