// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite

/// The tables of the backend's file.
enum BackendSchema {
  static let version: Int64 = 1

  /// Creates the tables of an empty file.
  /// - Throws: `newerSchema` for a file of a newer program, which is not changed; `corrupt` for a file without tables.
  static func prepare(_ connection: Connection) throws(StoreError) {
    let found = try connection.integer("PRAGMA user_version") ?? 0
    if found == version { return }
    if found > version {
      throw StoreError(
        .newerSchema, "The backend's data was written by a newer Hearth. Update, or choose another directory.")
    }
    guard found == 0, try !connection.exists("SELECT 1 FROM sqlite_schema") else {
      throw StoreError(.corrupt, "The backend's data has schema version \(found), which no release of Hearth wrote.")
    }
    try connection.transaction { () throws(StoreError) in
      try connection.execute(tables + AppliedRequests.schema + Openings.schema)
      try connection.execute("PRAGMA user_version = \(version)")
    }
  }

  private static let tables = """
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
    """
}
