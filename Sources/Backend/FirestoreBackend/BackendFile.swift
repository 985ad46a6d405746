// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreSQLite
import Synchronization

/// The backend's database file, or a database in memory with the same tables.
///
/// ```
/// databases ─┬─< collections ─< documents
///            ├─< changes          the changed documents by version, back to databases.pruned
///            ├─< history          earlier contents of documents, for reads in the past
///            └─< applied_requests responses stored for clients that never received them
/// ```
/// Every page ends with a checksum (`PageChecksums`), so a read returns the bytes that were written, or an error.
struct BackendFile: ~Copyable {
  private let connection: Connection
  /// The locked directory; `nil` for a backend in memory.
  private let directory: StoreDirectory?
  private let files: DatabaseFiles?
  private let report: @Sendable (String) -> Void
  /// The watch that detects moved or deleted files; `nil` for a backend in memory and for a private copy.
  let openFiles: OpenFiles?
  /// The first detected damage.
  private let damage = Mutex<StoreError?>(nil)
  /// A flag that is set if a disk error made the last transaction fail.
  private let isFailing = Mutex(false)

  /// - Throws: `corrupt` if the stored data is damaged; the files are then left unchanged.
  init(_ configuration: BackendConfiguration) throws(StoreError) {
    report = configuration.report
    guard case .directory(let path) = configuration.location else {
      connection = try Self.open(location: nil, configuration.durability)
      directory = nil
      files = nil
      openFiles = nil
      return
    }
    let held = try Self.hold(path, isServed: configuration.isServed, report)
    do throws(StoreError) {
      let opened = try Self.open(held, configuration.durability)
      try Self.observeCrashes(opened, held.files, configuration.durability, report)
      connection = opened
    } catch {
      throw error.kind == .corrupt ? Self.naming(error, held.files) : error
    }
    files = held.files
    openFiles =
      configuration.isPrivateCopy
      ? nil
      : OpenFiles(
        held.files,
        consequence: "writing has stopped, and the data is lost when this process ends. Export the data "
          + "from this process, end the process, and restore the data.")
    openFiles?.watch { [report] loss in report(loss.message) }
    directory = consume held
  }

  deinit {
    var isInPlace = true
    if let openFiles {
      do throws(StoreError) { try openFiles.check(at: .max) } catch { isInPlace = false }
      openFiles.end()
    }
    connection.close()
    // Another backend may use the path by now, with its own mark.
    if isInPlace, let files { OpenMark(files).remove() }
  }

  static let name = "backend.sqlite3"

  /// Locks a directory of backend data. It contains this file, the backend's socket and a folder of caches.
  static func hold(
    _ path: String, isServed: Bool = false, _ report: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(StoreError) -> StoreDirectory {
    try StoreDirectory(
      path, called: "data directory", database: name, others: ["cache", LocalBackend.socketName],
      use: isServed ? .served : .alone, report: report)
  }

  /// Runs `body` on the connection.
  borrowing func access<Result>(_ body: (Connection) throws(StoreError) -> Result) throws(StoreError) -> Result {
    do throws(StoreError) { return try body(connection) } catch { throw noting(error) }
  }

  /// Runs `body` as one transaction.
  /// - Throws: `corrupt` for every transaction after damage was detected, since a change could depend on damaged data;
  ///   `gone` if the files were removed, which is detected within a second.
  borrowing func transaction<Result>(
    _ body: (Connection) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if let damage = damage.withLock({ $0 }) { throw damage }
    try openFiles?.check()
    let result: Result
    do throws(StoreError) {
      result = try access { connection throws(StoreError) in
        try connection.transaction { () throws(StoreError) in try body(connection) }
      }
    } catch {
      noteDisk(error)
      throw error
    }
    noteDisk(nil)
    // The files may have been removed. The change is lost then, so the call must fail.
    try openFiles?.check()
    return result
  }

  /// Reports the first transaction that fails because of a disk error, and later the first transaction that succeeds
  /// again.
  private borrowing func noteDisk(_ error: StoreError?) {
    guard files != nil else { return }
    switch error?.kind {
    case nil:
      if isFailing.withLock({ exchange(&$0, with: false) }) { report("Commits succeed again.") }
    case .diskFull, .uncertain, .sqlite:
      if let error, !isFailing.withLock({ exchange(&$0, with: true) }) {
        report("Commits fail. \(error.message)")
      }
    default: break
    }
  }

  /// Reports damage once, and marks the files so that the next start verifies them.
  private borrowing func noting(_ error: StoreError) -> StoreError {
    guard error.kind == .corrupt, let files else { return error }
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

  private static func naming(_ error: StoreError, _ files: DatabaseFiles) -> StoreError {
    if error.message.contains(repairHint) { return error }
    let directory = files.path.dropLast(name.count + 1)
    return StoreError(
      .corrupt,
      "\(files.path) is damaged, so writing has stopped. \(error.message) "
        + "Run '\(repairHint) --data \(directory)' to save the readable data and keep the damaged file.")
  }

  private static let repairHint = "hearth repair"
}

/// Sets a value and returns the previous one.
private func exchange(_ value: inout Bool, with new: Bool) -> Bool {
  defer { value = new }
  return value
}

extension BackendFile {
  typealias Durability = BackendConfiguration.Durability

  static func open(_ directory: borrowing StoreDirectory, _ durability: Durability) throws(StoreError) -> Connection {
    let files = directory.files
    if DataRepair.isInterrupted(files) { throw StoreError(.corrupt, DataRepair.interruption) }
    try directory.prepare { path throws(StoreError) in
      let connection = try open(location: PageChecksums.uri(of: path), durability)
      defer { connection.close() }
      // Closing would not report a full disk.
      try connection.checkpoint(emptiesLog: true)
    }
    let connection = try open(location: PageChecksums.uri(of: files.path), durability)
    if files.isMarkedDamaged {
      // An earlier process detected damage, or a read error that looked like damage.
      try verify(connection)
      files.clearDamage()
    }
    return connection
  }

  /// Reports, once, that the system stopped while the data was open. Unless commits are fsynced, also marks the data as
  /// open before its first change.
  static func observeCrashes(
    _ connection: Connection, _ files: DatabaseFiles, _ durability: Durability, _ report: (String) -> Void
  ) throws(StoreError) {
    let mark = OpenMark(files)
    if mark.takeCrash() {
      let newest = try connection.integer(
        """
        SELECT max((SELECT coalesce(max(version), 0) FROM databases), (SELECT coalesce(max(version), 0) FROM changes))
        """)
      let since = newest.map { $0 > 0 ? "after \(Timestamp(microseconds: $0).rfc3339Text) " : "" } ?? ""
      report(
        "The system stopped while \(files.path) was open. Commits \(since)may be lost. To fsync every "
          + "commit, use --sync full.")
    }
    if durability == .normal { connection.beforeFirstChange = { mark.set() } }
  }

  /// - Parameter location: the path or URI of the file; `nil` for a database in memory.
  static func open(location: String?, _ durability: Durability) throws(StoreError) -> Connection {
    let connection = try Connection(path: location, called: title)
    try connection.configure(settings(isFile: location != nil, durability))
    try BackendSchema.prepare(connection)
    return connection
  }

  /// The name of the file in error messages.
  private static let title = "backend's data"

  private static func settings(isFile: Bool, _ durability: Durability) -> Connection.Settings {
    // WAL: a commit survives the death of the process (S10), and with FULL also a power failure. EXCLUSIVE saves the
    // file-locking system calls of each statement; the directory's lock already excludes other processes. A checkpoint
    // calls fsync; one per 40 MB of log instead of 4 MB halves the cost of a random update.
    Connection.Settings(
      creation: isFile ? "PRAGMA page_size = 4096; PRAGMA application_id = \(PageChecksums.applicationID);" : "",
      opening: """
        PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = \(durability.rawValue);
        PRAGMA secure_delete = OFF; PRAGMA cell_size_check = ON;
        PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864;
        """,
      reservedBytes: isFile ? PageChecksums.reservedBytes : 0, checkpointPages: 10_000)
  }

  /// Reads every page and checks all structures. O(size).
  static func verify(_ connection: Connection) throws(StoreError) {
    if let complaint = try connection.integrityComplaint() {
      throw StoreError(.corrupt, "The backend's data is damaged: \(complaint).")
    }
  }
}

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
        .newerSchema,
        "The backend's data was written by a newer version of Hearth. Update Hearth, or choose another directory.")
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

extension StoreError {
  static func refused(_ code: StatusCode, _ message: String) -> StoreError { StoreError(.refused(code), message) }

  /// The status that a client receives for the error.
  package var status: RPCStatus {
    let code: StatusCode =
      switch kind {
      case .locked, .notWritable, .notPrivate, .newerSchema, .foreign, .leaseLost: .failedPrecondition
      case .corrupt: .dataLoss
      // Clients keep their pending writes and resend them. A resent write is not applied twice.
      case .gone, .uncertain: .unavailable
      case .diskFull: .resourceExhausted
      case .refused(let code): code
      case .injected: .unavailable
      case .sqlite: .internal
      }
    return RPCStatus(code, message)
  }
}
