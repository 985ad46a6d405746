// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite

/// The one connection to the cache: opened and configured by GRDB, used through SQLite's C API.
///
/// GRDB's own access costs about 20 µs per call, several times the work of a typical statement here. The handle is
/// used outside of GRDB's queue, which is sound because a connection has one owner that calls it serially
/// (`LocalStore` is noncopyable) and GRDB is not called again before `close`.
final class Connection {
  /// 16 MB: keys are stored in random places, and the more changes a checkpoint sees, the more share a page.
  static let defaultLogPages: Int64 = 4000

  /// 1 MB of pages, as SQLite counts, until it is known that pages are wanted again: what a program reads at its start
  /// it often reads once, and the system has it in its own cache.
  private static let initialCacheSize = -1024
  /// 8 MB: keys are stored in random places, and the next change finds the page that the last one read.
  private static let fullCacheSize = -8192
  /// How many rows a transaction changes that is one of many such.
  private static let manyRows: Int64 = 64
  /// How many pages a query misses in the cache that would find some of them there the next time.
  private static let manyPages: Int32 = 128

  private var queue: DatabaseQueue?
  private let handle: OpaquePointer
  let rowFilter = RowFilter()
  let isInMemory: Bool
  private var statements: [Statement] = []
  private var beginning: Statement?
  private var beginningToRead: Statement?
  private var committing: Statement?
  private var undoing: Statement?
  private var hasReadManyPages = false
  private var hasFullCache = false

  /// - Parameter path: of the database file; `nil` for a database in memory.
  init(path: String?) throws(LocalStoreError) {
    isInMemory = path == nil
    do {
      var configuration = Configuration()
      configuration.label = "cache"
      configuration.foreignKeysEnabled = false
      // The directory's lock keeps other stores out; what remains is an administrator looking into the file.
      configuration.busyMode = .timeout(5)
      configuration.prepareDatabase { database in
        try Connection.configure(database, isFile: path != nil)
      }
      let queue =
        try path.map { try DatabaseQueue(path: $0, configuration: configuration) }
        ?? DatabaseQueue(configuration: configuration)
      guard let handle = queue.inDatabase({ $0.sqliteConnection }) else {
        throw LocalStoreError(.sqlite, "The cache was closed while it was opened.")
      }
      // GRDB's observation of transactions and statements expects to be on its queue; nobody observes anything.
      sqlite3_commit_hook(handle, nil, nil)
      sqlite3_rollback_hook(handle, nil, nil)
      sqlite3_update_hook(handle, nil, nil)
      sqlite3_set_authorizer(handle, nil, nil)
      self.queue = queue
      self.handle = handle
    } catch {
      throw LocalStoreError(error)
    }
    guard rowFilter.install(in: handle) == SQLITE_OK else { throw lastError }
    beginning = try prepare("BEGIN IMMEDIATE")
    beginningToRead = try prepare("BEGIN")
    committing = try prepare("COMMIT")
    undoing = try prepare("ROLLBACK")
  }

  deinit { close() }

  private static func configure(_ database: Database, isFile: Bool) throws {
    let version = try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    try Schema.check(version)
    if version == 0 {
      // Page size and vacuum mode only take effect on a new file, before its first table.
      try database.execute(sql: "PRAGMA page_size = 4096")
      try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
    }
    if isFile {
      // The directory is locked already; this saves the locks and the shared index file.
      try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      // A commit survives `kill -9` (S10); a power failure may take the last ones, never the consistency.
      try database.execute(sql: "PRAGMA synchronous = NORMAL")
      try database.execute(sql: "PRAGMA wal_autocheckpoint = \(defaultLogPages)")
      try database.execute(sql: "PRAGMA journal_size_limit = \(defaultLogPages * 4096)")
    }
    try database.execute(sql: "PRAGMA cache_size = \(initialCacheSize)")
    try database.execute(sql: "PRAGMA temp_store = MEMORY")
    // Debian's SQLite overwrites deleted data by default; the directory is private, and collection must be quick.
    try database.execute(sql: "PRAGMA secure_delete = OFF")
  }

  /// For a statement that is used until the connection closes.
  func prepare(_ sql: String) throws(LocalStoreError) -> Statement {
    let statement = try compile(sql, UInt32(SQLITE_PREPARE_PERSISTENT))
    statements.append(statement)
    return statement
  }

  /// For a statement that is run rarely: it goes when its last reference does.
  func prepareOnce(_ sql: String) throws(LocalStoreError) -> Statement { try compile(sql, 0) }

  private func compile(_ sql: String, _ flags: UInt32) throws(LocalStoreError) -> Statement {
    var pointer: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, flags, &pointer, nil)
    guard code == SQLITE_OK, let pointer else { throw lastError }
    return Statement(owning: pointer)
  }

  /// Runs statements without parameters once.
  func execute(_ sql: String) throws(LocalStoreError) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw lastError }
  }

  /// The integer that a pragma or other one-off statement answers.
  func integer(_ sql: String) throws(LocalStoreError) -> Int64 {
    try prepareOnce(sql).first { $0.integer(0) } ?? 0
  }

  /// Runs `body` in one transaction: all of it is stored, or nothing.
  func transaction<R>(_ body: () throws(LocalStoreError) -> R) throws(LocalStoreError) -> R {
    let changes = changeCount
    try beginning?.run()
    do throws(LocalStoreError) {
      let result = try body()
      try committing?.run()
      if !hasFullCache, changeCount - changes >= Self.manyRows { growCache() }
      return result
    } catch {
      // SQLite has already rolled back after some errors (a full disk). Should the rollback itself fail, the first
      // error is the one to report: the journal undoes the transaction when the file is next opened.
      if isInTransaction { try? undoing?.run() }
      throw error
    }
  }

  /// Runs many statements that only read. Each by itself would find out anew what state the file is in, which takes
  /// about as long as finding a row.
  /// - Precondition: outside of a transaction.
  func readingTransaction<R>(_ body: () throws(LocalStoreError) -> R) throws(LocalStoreError) -> R {
    if !hasFullCache, hasReadManyPages { growCache() }
    let misses = hasFullCache ? 0 : pageMisses
    try beginningToRead?.run()
    defer {
      // Nothing was changed, so that it does not matter how it ends.
      if (try? committing?.run()) == nil { try? undoing?.run() }
      if !hasFullCache { hasReadManyPages = pageMisses - misses >= Self.manyPages }
    }
    return try body()
  }

  /// How often a page was not in the cache.
  private var pageMisses: Int32 {
    var (count, unused): (Int32, Int32) = (0, 0)
    return sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &count, &unused, 0) == SQLITE_OK ? count : 0
  }

  private func growCache() {
    hasFullCache = true
    // With the smaller one everything is slower, and that is all.
    try? execute("PRAGMA cache_size = \(Self.fullCacheSize)")
  }

  /// Grows with every row that is inserted, changed or deleted.
  var changeCount: Int64 { sqlite3_total_changes64(handle) }

  /// How many rows the last statement changed.
  var rowsChangedLast: Int { Int(sqlite3_changes(handle)) }

  private var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  private var lastError: LocalStoreError {
    if sqlite3_errcode(handle) == SQLITE_ERROR {
      // The statements are correct, so it is the tables that are not as this program makes them.
      return LocalStoreError(
        .corrupt,
        "The cache is damaged: \(String(cString: sqlite3_errmsg(handle))). "
          + "It will be moved aside at the next start.")
    }
    return LocalStoreError(sqlite: sqlite3_extended_errcode(handle), String(cString: sqlite3_errmsg(handle)))
  }

  /// Statements are unusable afterwards.
  func close() {
    for statement in statements { statement.finalize() }
    statements = []
    // Closing can only fail for statements in use, and there are none.
    try? queue?.close()
    queue = nil
  }
}
