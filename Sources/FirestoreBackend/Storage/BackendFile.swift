// SPDX-License-Identifier: Apache-2.0
import GRDB
import Glibc

/// The backend's database file, or its equal in memory.
///
/// ```
/// databases ─┬─< collections ─< documents
///            ├─< changes          what happened at which version, back to databases.pruned
///            ├─< history          what documents held before they changed, for reads in the past
///            └─< applied_requests answers kept for clients that never saw them
/// ```
struct BackendFile: ~Copyable {
  private let queue: DatabaseQueue
  private let lock: DirectoryLock?
  /// Where a damaged file was moved when it was found; the backend then starts empty.
  let movedAside: String?

  init(_ location: BackendConfiguration.Location) throws(BackendError) {
    let held = try Self.hold(location)
    let opened: (DatabaseQueue, movedAside: String?) =
      switch location {
      case .memory: (try Self.open(path: nil), nil)
      case .directory(let directory): try Self.openOrReplace(path: directory + "/backend.sqlite3")
      }
    (queue, movedAside) = opened
    lock = held
  }

  private static func hold(_ location: BackendConfiguration.Location) throws(BackendError) -> DirectoryLock? {
    guard case .directory(let directory) = location else { return nil }
    return try DirectoryLock(directory: directory)
  }

  private static func openOrReplace(path: String) throws(BackendError) -> (DatabaseQueue, movedAside: String?) {
    do throws(BackendError) { return (try open(path: path), nil) } catch {
      guard error.kind == .corrupt else { throw error }
      let aside = try moveAside(path)
      return (try open(path: path), aside)
    }
  }

  /// Runs `body` on the connection. Not re-entrant.
  borrowing func access<Result>(
    _ body: (Connection) throws(BackendError) -> Result
  ) throws(BackendError) -> Result {
    do {
      return try queue.writeWithoutTransaction { database in try body(Connection(database: database)) }
    } catch { throw BackendError(error) }
  }

  borrowing func transaction<Result>(
    _ body: (Connection) throws(BackendError) -> Result
  ) throws(BackendError) -> Result {
    try access { connection throws(BackendError) in
      try connection.transaction { () throws(BackendError) in try body(connection) }
    }
  }

  private static func open(path: String?) throws(BackendError) -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "backend.sqlite3"
    configuration.prepareDatabase { database in
      // WAL with NORMAL: a commit survives the death of the process (S10); power loss may undo the last ones, whole.
      // EXCLUSIVE, which the directory's lock makes true anyway, saves each statement the system calls of file locks.
      // A checkpoint waits for the disk: one per 40 MB of log instead of 4 MB halves what a random update costs.
      try database.execute(
        sql: """
          PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
          PRAGMA secure_delete = OFF;
          PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384; PRAGMA journal_size_limit = 67108864;
          PRAGMA wal_autocheckpoint = 10000;
          """)
    }
    do {
      let queue =
        try path.map { try DatabaseQueue(path: $0, configuration: configuration) }
        ?? DatabaseQueue(configuration: configuration)
      let migrator = migrator()
      if try queue.read(migrator.hasBeenSuperseded) {
        throw BackendError(
          .newerSchema, "\(path ?? "The database") was written by a newer Hearth. Update, or choose another directory.")
      }
      try migrator.migrate(queue)
      return queue
    } catch { throw BackendError(error) }
  }

  private static func moveAside(_ path: String) throws(BackendError) -> String {
    var number = 1
    while Glibc.access("\(path).damaged-\(number)", F_OK) == 0 { number += 1 }
    let target = "\(path).damaged-\(number)"
    guard rename(path, target) == 0 else {
      throw BackendError(.corrupt, "\(path) is damaged and could not be moved aside; move it away yourself.")
    }
    // The log belongs to the damaged file; it may not exist.
    for suffix in ["-wal", "-shm"] { _ = rename(path + suffix, target + suffix) }
    return target
  }

  private static func migrator() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("2 documents, changes and history") { database in
      try database.execute(
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
          """)
    }
    migrator.registerMigration("3 contents of applied requests") { database in
      try database.execute(sql: AppliedRequests.schema)
    }
    return migrator
  }
}
