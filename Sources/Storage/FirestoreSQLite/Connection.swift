// SPDX-License-Identifier: Apache-2.0
import CPageChecksums
public import CSQLite

/// A connection to a database. Its owner must not use it concurrently.
///
/// The file has more than 400 lines, because statements, transactions and the handling of failed commits change the
/// same private state.
///
/// SQL is written where it is used, next to its arguments. A statement is compiled when it first runs. After that, it
/// is found by the address of its string literal. Do not run a statement again while you read one of its rows.
///
/// If a commit fails on disk, it is removed from the log, so that it does not reappear after a restart. After a failed
/// fsync, the database is reopened, because the system may have dropped the data (`Connection+Failures`).
@usableFromInline package final class Connection {
  /// The settings of a store's database.
  package struct Settings: Sendable {
    /// PRAGMAs that take effect only before the first page is written.
    package var creation: String
    /// PRAGMAs that are executed whenever the database is opened.
    package var opening: String
    /// The number of bytes reserved for the checksum at the end of each page. The setting takes effect only in an empty
    /// database.
    package var reservedBytes: Int32
    /// The size of the page cache in KiB after the first large transaction or after many cache misses. Until then, the
    /// size in `opening` applies. A smaller cache suffices at first, because a program reads most data only once when
    /// it starts, and the system caches the file.
    package var fullCache: Int?
    /// The number of pages in the write-ahead log at which a commit writes the log back to the database.
    package var checkpointPages: Int32

    package init(
      creation: String, opening: String, reservedBytes: Int32 = 0, fullCache: Int? = nil,
      checkpointPages: Int32 = 1000
    ) {
      self.creation = creation
      self.opening = opening
      self.reservedBytes = reservedBytes
      self.fullCache = fullCache
      self.checkpointPages = checkpointPages
    }
  }

  /// The number of changed rows at which a transaction counts as large.
  private static let manyRows: Int64 = 64
  /// The number of cache misses at which a larger cache is worthwhile.
  private static let manyPages: Int32 = 128
  /// The time to wait for a lock, in milliseconds. The directory's lock excludes other stores, so only an administrator
  /// can be reading the file.
  private static let patience: Int32 = 5000

  /// The SQLite handle; `nil` while the database is closed, and if it could not be reopened.
  private(set) var handle: OpaquePointer?
  private let path: String?
  /// The name of the data in error messages.
  let name: String
  package var isInMemory: Bool { path == nil }
  private var isOver = false
  @usableFromInline let statements = StatementTable()
  private var settings: Settings?
  private var lockPatience = patience
  private var functions: [RowFilter] = []
  private var fullCache: Int?
  private var hasReadManyPages = false
  /// The number of frames in the write-ahead log after the last commit of this connection.
  let logFrames = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
  /// The log's salts and frame count when the log was last written back completely.
  var writtenBack: (salts: UInt64, frames: Int32)?
  /// The number of pages in the write-ahead log at which a commit writes the log back to the database.
  package var checkpointPages: Int32 = 1000
  /// Called once, before this connection commits its first change.
  package var beforeFirstChange: (() -> Void)?
  private var hasChanged = false
  /// Whether the log may still contain a commit that was reported as failed.
  var isInDoubt = false

  /// - Parameters:
  ///   - path: the path of the database file, or its URI; `nil` for a database in memory.
  ///   - name: the name of the data in error messages, such as "cache".
  package init(path: String?, called name: String) throws(StoreError) {
    // The checksum layer must be registered before any other use of SQLite. Databases in memory do not use it.
    _ = cpc_register()
    self.path = path
    self.name = name
    logFrames.initialize(to: 0)
    handle = try Self.open(path, name)
    observeLog()
  }

  private static func open(_ path: String?, _ name: String) throws(StoreError) -> OpaquePointer {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path ?? ":memory:", &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      let error = StoreError(resultCode: code, String(cString: sqlite3_errmsg(opened)), of: name)
      sqlite3_close(opened)
      throw error
    }
    sqlite3_extended_result_codes(opened, 1)
    sqlite3_busy_timeout(opened, patience)
    return opened
  }

  /// Counts the log's frames at each commit. This replaces SQLite's automatic checkpoints, which use the same hook and
  /// do not report failures.
  private func observeLog() {
    logFrames.pointee = 0
    writtenBack = nil
    if isInMemory { return }
    sqlite3_wal_hook(
      handle,
      { frames, _, _, count in
        frames?.assumingMemoryBound(to: Int32.self).pointee = count
        return SQLITE_OK
      }, logFrames)
  }

  /// Sets the time to wait for locks of other connections, in milliseconds.
  package func setPatience(_ milliseconds: Int32) {
    lockPatience = milliseconds
    if let handle { sqlite3_busy_timeout(handle, milliseconds) }
  }

  deinit {
    close()
    logFrames.deallocate()
  }

  /// - Precondition: only the version of the database has been read.
  package func configure(_ settings: Settings) throws(StoreError) {
    if try integer("PRAGMA page_count") == 0 {
      // The reserved bytes must be in the header before there is a log.
      if settings.reservedBytes > 0 { reserve(settings.reservedBytes) }
      try execute(settings.creation)
    }
    try execute(settings.opening)
    self.settings = settings
    fullCache = settings.fullCache
    checkpointPages = settings.checkpointPages
  }

  /// Reserves bytes for the checksum at the end of each page of an empty database.
  private func reserve(_ bytes: Int32) {
    var bytes = bytes
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes)
  }

  /// Registers the SQL function of a filter. It is registered again whenever the database is reopened.
  func add(_ filter: RowFilter) throws(StoreError) {
    try filter.register(with: self)
    functions.append(filter)
  }

  /// Closes the database. After that, its statements must not be used.
  package func close() {
    isOver = true
    closeHandle()
  }

  private func closeHandle() {
    guard let open = handle else { return }
    statements.removeAll { sqlite3_finalize($0) }
    // Closing fails only while statements are in use, and all have been finalized.
    sqlite3_close(open)
    handle = nil
  }

  /// Closes the database without changing its log, and opens it again. SQLite then recovers the log.
  func reopen() throws(StoreError) {
    if let handle { _ = csqlite_keep_log_on_close(handle) }
    closeHandle()
    try openAgain()
  }

  /// Opens the database again if an earlier attempt failed.
  private func openAgain() throws(StoreError) {
    if isOver { throw StoreError(.sqlite, "The \(name) is closed.") }
    let patience = lockPatience
    handle = try Self.open(path, name)
    do throws(StoreError) {
      observeLog()
      setPatience(patience)
      if let settings { try execute(settings.opening) }
      for function in functions { try function.register(with: self) }
    } catch {
      closeHandle()
      throw error
    }
  }

  // MARK: Statements

  /// Runs a statement and ignores its rows.
  @inlinable package func run<each Argument: SQLValue>(
    _ sql: StaticString, _ arguments: repeat each Argument
  ) throws(StoreError) {
    let statement = try statement(sql)
    try bind(repeat each arguments, to: statement)
    while try step(statement) {}
  }

  /// Creates a value from the first row; `nil` if there is no row.
  @inlinable package func first<each Argument: SQLValue, Value>(
    _ sql: StaticString, _ arguments: repeat each Argument, as read: (Row) throws(StoreError) -> Value
  ) throws(StoreError) -> Value? {
    let statement = try statement(sql)
    try bind(repeat each arguments, to: statement)
    defer { sqlite3_reset(statement) }
    return try step(statement) ? try read(Row(statement)) : nil
  }

  /// Creates values from all rows.
  @inlinable package func all<each Argument: SQLValue, Value>(
    _ sql: StaticString, _ arguments: repeat each Argument, as read: (Row) throws(StoreError) -> Value
  ) throws(StoreError) -> [Value] {
    let statement = try statement(sql)
    try bind(repeat each arguments, to: statement)
    defer { sqlite3_reset(statement) }
    var values: [Value] = []
    while try step(statement) { values.append(try read(Row(statement))) }
    return values
  }

  /// Calls `body` with each row.
  @inlinable package func forEachRow<each Argument: SQLValue>(
    _ sql: StaticString, _ arguments: repeat each Argument, do body: (Row) throws(StoreError) -> Void
  ) throws(StoreError) {
    let statement = try statement(sql)
    try bind(repeat each arguments, to: statement)
    defer { sqlite3_reset(statement) }
    while try step(statement) { try body(Row(statement)) }
  }

  /// Visits rows until `visit` returns false.
  @inlinable package func scan<each Argument: SQLValue>(
    _ sql: StaticString, _ arguments: repeat each Argument, visit: (Row) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let statement = try statement(sql)
    try bind(repeat each arguments, to: statement)
    defer { sqlite3_reset(statement) }
    while try step(statement), try visit(Row(statement)) {}
  }

  /// The integer in the first row; `nil` if it is NULL or there is no row.
  @inlinable package func integer<each Argument: SQLValue>(
    _ sql: StaticString, _ arguments: repeat each Argument
  ) throws(StoreError) -> Int64? {
    try first(sql, repeat each arguments, as: { $0.optionalInteger(0) }) ?? nil
  }

  /// Whether the query returns a row.
  @inlinable package func exists<each Argument: SQLValue>(
    _ sql: StaticString, _ arguments: repeat each Argument
  ) throws(StoreError) -> Bool {
    try first(sql, repeat each arguments, as: { _ in true }) ?? false
  }

  /// Runs statements without parameters once.
  package func execute(_ sql: String) throws(StoreError) {
    if handle == nil { try openAgain() }
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw compileError }
  }

  /// Calls `body` with each row of a statement whose SQL was composed at run time. The statement is not cached.
  package func forEachRow(
    composed sql: String, do body: (Row) throws(StoreError) -> Void
  ) throws(StoreError) {
    if handle == nil { try openAgain() }
    var compiled: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &compiled, nil) == SQLITE_OK, let compiled else { throw compileError }
    defer { sqlite3_finalize(compiled) }
    while try step(compiled) { try body(Row(compiled)) }
  }

  /// The integer in the first row of a composed statement; `nil` if it is NULL or there is no row.
  package func integer(composed sql: String) throws(StoreError) -> Int64? {
    var value: Int64?
    try forEachRow(composed: sql) { row in value = value ?? row.optionalInteger(0) }
    return value
  }

  @inlinable func statement(_ sql: StaticString) throws(StoreError) -> OpaquePointer {
    if let known = statements[sql] { return known }
    return try compile(sql)
  }

  @usableFromInline func compile(_ sql: StaticString) throws(StoreError) -> OpaquePointer {
    if handle == nil { try openAgain() }
    var compiled: OpaquePointer?
    let code = sql.withUTF8Buffer { sql in
      sql.withMemoryRebound(to: CChar.self) { sql in
        sqlite3_prepare_v3(
          handle, sql.baseAddress, Int32(sql.count), UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
      }
    }
    guard code == SQLITE_OK, let compiled else { throw compileError }
    statements.insert(compiled, for: sql)
    return compiled
  }

  @inlinable func bind<each Argument: SQLValue>(
    _ arguments: repeat each Argument, to statement: OpaquePointer
  ) throws(StoreError) {
    var index: Int32 = 0
    for argument in repeat each arguments {
      index += 1
      if argument.bind(to: statement, at: index) != SQLITE_OK { throw error }
    }
    assert(index == sqlite3_bind_parameter_count(statement), "\(index) arguments")
  }

  /// - Returns: whether there is another row. If not, the statement is reset.
  @usableFromInline func step(_ statement: OpaquePointer) throws(StoreError) -> Bool {
    let code = sqlite3_step(statement)
    if code == SQLITE_ROW { return true }
    defer { sqlite3_reset(statement) }
    if code == SQLITE_DONE { return false }
    throw error
  }

  // MARK: Transactions

  /// Runs `body` in one transaction, atomically.
  /// - Throws: `uncertain` if the commit failed and could not be removed from the log, so that it may reappear after a
  ///   restart.
  package func transaction<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    if isInDoubt { try withdraw() }
    let changes = changeCount
    try run("BEGIN IMMEDIATE")
    let value: Value
    do throws(StoreError) {
      value = try body()
      if changeCount != changes { prepareFirstChange() }
    } catch {
      rollBack()
      throw error
    }
    do throws(StoreError) { try run("COMMIT") } catch {
      throw isInMemory ? rolledBack(error) : withdrawn(error)
    }
    if changeCount - changes >= Self.manyRows { growCache() }
    if !isInMemory, logFrames.pointee >= checkpointPages { try? checkpoint() }
    return value
  }

  /// Rolls back the transaction and ignores errors. After some errors, such as a full disk, SQLite has already rolled
  /// back. If the rollback itself fails, the log contains no commit, so SQLite ignores the transaction when it opens
  /// the database again.
  func rollBack() {
    if let handle, sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
  }

  private func rolledBack(_ error: StoreError) -> StoreError {
    rollBack()
    return error
  }

  private func prepareFirstChange() {
    guard !hasChanged else { return }
    hasChanged = true
    if !isInMemory { countLoggedFrames() }
    beforeFirstChange?()
    beforeFirstChange = nil
  }

  /// Runs many read-only statements in one transaction. Without a transaction, each statement reads the file's state
  /// again, which takes about as long as finding a row.
  package func readingTransaction<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    if let handle, sqlite3_get_autocommit(handle) == 0 { return try body() }
    if hasReadManyPages { growCache() }
    let misses = fullCache == nil ? 0 : pageMisses
    try run("BEGIN")
    defer {
      // A transaction without changes can be committed or rolled back.
      if (try? run("COMMIT")) == nil { try? run("ROLLBACK") }
      if fullCache != nil { hasReadManyPages = pageMisses - misses >= Self.manyPages }
    }
    return try body()
  }

  /// The number of page cache misses.
  private var pageMisses: Int32 {
    var (count, unused): (Int32, Int32) = (0, 0)
    guard let handle else { return 0 }
    return sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &count, &unused, 0) == SQLITE_OK ? count : 0
  }

  private func growCache() {
    guard let size = fullCache else { return }
    fullCache = nil
    // A failure to enlarge the cache only makes the connection slower.
    try? keepPages(upTo: size << 10)
  }

  /// Limits the page cache. A database in memory always keeps all of its pages.
  package func keepPages(upTo bytes: Int) throws(StoreError) { try execute("PRAGMA cache_size = -\(bytes >> 10)") }

  /// A number that changes when another connection changes the database.
  package var foreignVersion: Int64 {
    get throws(StoreError) { try integer("PRAGMA data_version") ?? 0 }
  }

  /// The number of rows inserted, changed or deleted so far.
  package var changeCount: Int64 { handle.map { sqlite3_total_changes64($0) } ?? 0 }

  /// The number of rows changed by the last INSERT, UPDATE or DELETE.
  package var rowsChangedLast: Int { handle.map { Int(sqlite3_changes($0)) } ?? 0 }

  /// Reads every page and checks SQLite's structures. Takes O(size) time.
  /// - Returns: SQLite's message about the first error; `nil` if there is none.
  package func integrityComplaint() throws(StoreError) -> String? {
    let answer = try first("PRAGMA integrity_check(1)", as: { $0.text(0) }) ?? ""
    // A line with the database's name comes before the error.
    return answer == "ok" ? nil : String(answer.split(separator: "\n").last ?? "")
  }

  // MARK: Errors

  @usableFromInline var error: StoreError {
    StoreError(
      resultCode: sqlite3_extended_errcode(handle), String(cString: sqlite3_errmsg(handle)),
      systemError: sqlite3_system_errno(handle), of: name)
  }

  /// The error for a statement that cannot be compiled. The SQL itself is correct, so the tables in the database must
  /// differ from the tables that this program creates.
  private var compileError: StoreError {
    guard sqlite3_errcode(handle) == SQLITE_ERROR else { return error }
    return StoreError(.corrupt, "The \(name) is damaged (\(String(cString: sqlite3_errmsg(handle)))).")
  }
}
