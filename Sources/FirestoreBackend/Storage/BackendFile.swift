// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite
import GRDB
import Synchronization

/// The backend's database file, or its equal in memory.
///
/// ```
/// databases ─┬─< collections ─< documents
///            ├─< changes          what happened at which version, back to databases.pruned
///            ├─< history          what documents held before they changed, for reads in the past
///            └─< applied_requests answers kept for clients that never saw them
/// ```
/// Every page ends with a checksum (`PageChecksums`), so that what is read is what was written, or an error.
struct BackendFile: ~Copyable {
  private let queue: DatabaseQueue
  private let lock: DirectoryLock?
  private let files: DatabaseFiles?
  private let report: @Sendable (String) -> Void
  /// The damage that was met first.
  private let damage = Mutex<BackendError?>(nil)

  /// - Throws: `corrupt` for data that is not what was written; the files then stay as they are.
  init(_ configuration: BackendConfiguration) throws(BackendError) {
    report = configuration.report
    guard case .directory(let directory) = configuration.location else {
      queue = try Self.open(location: nil, configuration.durability)
      lock = nil
      files = nil
      return
    }
    let held = try Self.hold(directory)
    let files = DatabaseFiles(path: held.directory + "/" + Self.name)
    do throws(BackendError) { queue = try Self.open(files, configuration) } catch {
      throw error.kind == .corrupt ? Self.naming(error, files) : error
    }
    held.notices.forEach(report)
    self.files = files
    lock = consume held
  }

  static let name = "backend.sqlite3"

  /// Locks a directory of backend data; what belongs there is this file's and, below it, caches.
  static func hold(_ directory: String) throws(BackendError) -> DirectoryLock {
    do throws(StoreError) {
      return try DirectoryLock(directory: directory, called: "data directory", own: [name, "cache"])
    } catch { throw BackendError(error) }
  }

  /// Runs `body` on the connection. Not re-entrant.
  borrowing func access<Result>(
    _ body: (Connection) throws(BackendError) -> Result
  ) throws(BackendError) -> Result {
    do {
      return try queue.writeWithoutTransaction { database in try body(Connection(database: database)) }
    } catch { throw noting(BackendError(error)) }
  }

  /// Runs `body` as one transaction.
  /// - Throws: `corrupt` at once after damage was met: who knows what a change would build upon.
  borrowing func transaction<Result>(
    _ body: (Connection) throws(BackendError) -> Result
  ) throws(BackendError) -> Result {
    if let damage = damage.withLock({ $0 }) { throw damage }
    return try access { connection throws(BackendError) in
      try connection.transaction { () throws(BackendError) in try body(connection) }
    }
  }

  /// Damage is remembered, also for the next start, and said once.
  private borrowing func noting(_ error: BackendError) -> BackendError {
    guard error.kind == .corrupt else { return error }
    guard let files else { return error }
    let named = Self.naming(error, files)
    let isNews = damage.withLock { first in
      defer { first = first ?? named }
      return first == nil
    }
    if isNews {
      files.markDamaged()
      report(named.message)
    }
    return named
  }

  private static func naming(_ error: BackendError, _ files: DatabaseFiles) -> BackendError {
    if error.message.contains(repairHint) { return error }
    let directory = files.path.dropLast(name.count + 1)
    return BackendError(
      .corrupt,
      "\(files.path) is damaged and nothing is written to it: \(error.message) "
        + "'\(repairHint) --data \(directory)' keeps the damaged file and saves what can be read.")
  }

  private static let repairHint = "hearth repair"

  static func migrator() -> DatabaseMigrator {
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
