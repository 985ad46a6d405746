// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite

/// The tables of the cache.
///
/// Documents are ordered by their number (`DocumentNumber`). Therefore a collection's documents form one range of the
/// table, in the order of insertion. Keys are stored as the collection's number and the document id. Times are stored
/// as microseconds since the epoch, or NULL.
enum Schema {
  static let version: Int64 = 1

  /// Creates the tables in an empty database.
  /// - Throws: `newerSchema` if the database has a later schema version; it is then left unchanged. `corrupt` if a
  ///   table, column or index is missing.
  /// - Parameter use: whether other connections may also open the file. A database in memory is never shared.
  static func prepare(_ connection: Connection, isFile: Bool, _ use: DirectoryUse = .alone) throws(StoreError) {
    let found = try connection.integer("PRAGMA user_version") ?? 0
    if found > version {
      throw StoreError(
        .newerSchema,
        "The cache has schema version \(found), but this program reads version \(version). Use the program that "
          + "created the cache, or another cache directory.")
    }
    try connection.configure(settings(isFile: isFile, use))
    if found == version { return try compare(connection) }
    guard found == 0, try !connection.exists("SELECT 1 FROM sqlite_schema") else {
      throw .damaged("it has the invalid schema version \(found)")
    }
    try connection.transaction { () throws(StoreError) in
      try create(in: connection)
      try connection.execute("PRAGMA user_version = \(version)")
    }
  }

  private static func create(in connection: Connection) throws(StoreError) {
    let parts = [
      tables, BundleTable.schema, RejectedWriteTable.schema, IndexTable.schema, IndexTails.schema,
      RetentionTable.schema,
    ]
    for part in parts { try connection.execute(part) }
  }

  /// Compares the tables with the tables of a new cache. Without this check, a missing table would not be detected
  /// until a statement uses it.
  private static func compare(_ connection: Connection) throws(StoreError) {
    if let lost = try namesOfNew.get().subtracting(names(connection)).min() { throw .damaged("it lacks \(lost)") }
  }

  /// The names of the tables, columns and indexes of a new cache.
  private static let namesOfNew = Result { () throws(StoreError) in
    let new = try Connection(path: nil, called: "cache")
    try create(in: new)
    return try names(new)
  }

  /// The names of tables, their columns, and indexes.
  private static func names(_ connection: Connection) throws(StoreError) -> Set<String> {
    Set(
      try connection.all(
        """
        SELECT schema.name || ifnull('.' || columns.name, '')
        FROM sqlite_schema AS schema LEFT JOIN pragma_table_info(schema.name) AS columns
        """
      ) { $0.text(0) })
  }

  private static func settings(isFile: Bool, _ use: DirectoryUse) -> Connection.Settings {
    // A directory that is not shared is already locked. An exclusive lock of the file then avoids a lock for each
    // transaction and the shared index file. A commit survives `kill -9` (S10). A power failure can lose the last
    // commits, but never the consistency.
    let file = """
      PRAGMA locking_mode = \(use == .alone ? "EXCLUSIVE" : "NORMAL"); PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      PRAGMA journal_size_limit = \(defaultLogPages * 4096);
      """
    // Debian's SQLite overwrites deleted data by default. This is disabled, because the directory is private and
    // collection must be quick. The page cache can grow to 8 MB: keys are stored in random order, and changes can then
    // use the pages that earlier changes have read.
    return Connection.Settings(
      creation: "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL;"
        + (isFile ? "PRAGMA application_id = \(PageChecksums.applicationID);" : ""),
      opening: (isFile ? file : "")
        + "PRAGMA cache_size = -1024; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = OFF;",
      reservedBytes: isFile ? PageChecksums.reservedBytes : 0, fullCache: 8192,
      checkpointPages: Int32(defaultLogPages))
  }

  /// The default size limit of the write-ahead log in pages (16 MB). Keys are stored in random order. With a larger
  /// log, each checkpoint can therefore write more changes per page.
  static let defaultLogPages: Int64 = 4000

  private static let tables = """
    CREATE TABLE globals (
      name TEXT PRIMARY KEY,
      value ANY
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE users (
      id INTEGER PRIMARY KEY,
      name TEXT UNIQUE            -- NULL: signed out
    ) STRICT;

    CREATE TABLE collection_parents (
      id INTEGER PRIMARY KEY,
      path TEXT NOT NULL UNIQUE,
      parent TEXT NOT NULL,       -- the document or root above
      collection_id TEXT NOT NULL -- last segment, what a collection group query matches
    ) STRICT;
    CREATE INDEX collection_parents_by_parent ON collection_parents (parent, collection_id);
    CREATE INDEX collection_parents_by_id ON collection_parents (collection_id);

    CREATE TABLE documents (
      id INTEGER PRIMARY KEY,
      collection INTEGER NOT NULL,
      name TEXT NOT NULL,
      version INTEGER,
      create_time INTEGER,
      read_time INTEGER NOT NULL,
      sequence_number INTEGER NOT NULL,
      state INTEGER NOT NULL,     -- DocumentTable.State
      fields BLOB,                -- canonical protobuf entries
      checksum INTEGER            -- DocumentChecksum; NULL: placeholder
    ) STRICT;
    CREATE UNIQUE INDEX documents_by_key ON documents (collection, name);
    -- The sequence number spares the collector the table.
    CREATE INDEX documents_by_read_time ON documents (collection, read_time, sequence_number);

    CREATE TABLE mutation_batches (
      id INTEGER PRIMARY KEY,
      user INTEGER NOT NULL,
      batch BLOB NOT NULL,
      checksum INTEGER NOT NULL   -- of `batch`
    ) STRICT;

    -- A document's batches and their sum lie side by side: what changes together is on one page.
    CREATE TABLE pending_documents (
      collection INTEGER NOT NULL,
      name TEXT NOT NULL,
      user INTEGER NOT NULL,
      batch INTEGER NOT NULL,     -- 0: the overlay
      largest_batch INTEGER,
      mutation BLOB,
      origin BLOB,                -- OverlayOrigin; NULL: none
      checksum INTEGER,           -- of an overlay's three columns; NULL: a batch
      PRIMARY KEY (collection, name, user, batch)
    ) STRICT, WITHOUT ROWID;
    CREATE VIEW batch_documents AS SELECT collection, name, user, batch FROM pending_documents WHERE batch > 0;
    CREATE VIEW overlays AS
      SELECT collection, name, user, largest_batch, mutation, origin, checksum FROM pending_documents WHERE batch = 0;

    CREATE TABLE targets (
      id INTEGER PRIMARY KEY,
      canonical_id TEXT NOT NULL UNIQUE,
      target BLOB NOT NULL,
      sequence_number INTEGER NOT NULL,
      snapshot_version INTEGER,
      limbo_free_version INTEGER,
      resume_token BLOB,
      checksum INTEGER,           -- of target, versions and token; NULL: being collected
      members INTEGER DEFAULT 0   -- MemberDigest; NULL: being collected
    ) STRICT;

    CREATE TABLE target_documents (
      target INTEGER NOT NULL,
      document INTEGER NOT NULL,
      PRIMARY KEY (target, document)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX target_documents_by_document ON target_documents (document);
    """
}
