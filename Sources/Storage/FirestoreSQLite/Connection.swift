// SPDX-License-Identifier: Apache-2.0
import CPageChecksums
public import CSQLite

/// The one connection to a database, used serially by its one owner.
///
/// SQL is written at the place of its use, with its arguments beside it. A statement is compiled when it is first run
/// and found again by the address of its literal; it must not be started again while one of its rows is looked at.
@usableFromInline package final class Connection {
  /// The settings of a store's database.
  package struct Settings: Sendable {
    /// PRAGMAs that only take effect before the first page is written.
    package var creation: String
    /// PRAGMAs of every opening.
    package var opening: String
    /// The number of bytes at the end of each page that are left to its checksum; only an empty database takes this
    /// setting.
    package var reservedBytes: Int32
    /// The size in KiB of the pages that are kept in memory, once it is known that pages are wanted again. Until then
    /// the size of `opening` holds: a program reads much of its start-up data only once, and the system has the file in
    /// its own cache.
    package var fullCache: Int?

    package init(creation: String, opening: String, reservedBytes: Int32 = 0, fullCache: Int? = nil) {
      self.creation = creation
      self.opening = opening
      self.reservedBytes = reservedBytes
      self.fullCache = fullCache
    }
  }

  /// The number of changed rows from which on a transaction is taken for one of many large ones.
  private static let manyRows: Int64 = 64
  /// The number of pages missed in the cache from which on a larger cache would find some of them the next time.
  private static let manyPages: Int32 = 128
  /// The milliseconds to wait for a lock. The directory's lock keeps other stores out; only an administrator may be
  /// looking into the file.
  private static let patience: Int32 = 5000

  @usableFromInline let handle: OpaquePointer
  /// The name of the database in errors.
  private let name: String
  package let isInMemory: Bool
  private var isOpen = true
  @usableFromInline let statements = StatementTable()
  private var fullCache: Int?
  private var hasReadManyPages = false
  /// Whether the next transaction that changes a row has to write the first page; `begunLogs` is the count of begun
  /// logs when that was last known. The first page tells which database a log goes on from (`LogEnd`), so that each
  /// log has a version of it. A transaction that changes no row begins no log: opening would wait for the disk.
  private var owesFirstPage: Bool
  private var begunLogs: UInt32 = 0

  /// - Parameters:
  ///   - path: the path of the database file, or its URI; `nil` for a database in memory.
  ///   - name: the name of the data in errors, such as "cache".
  package init(path: String?, called name: String) throws(StoreError) {
    // Registers the layer before SQLite is used otherwise; a database in memory does without it.
    _ = cpc_register()
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path ?? ":memory:", &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      let error = StoreError(resultCode: code, String(cString: sqlite3_errmsg(opened)), of: name)
      sqlite3_close(opened)
      throw error
    }
    handle = opened
    self.name = name
    isInMemory = path == nil
    owesFirstPage = path != nil
    sqlite3_extended_result_codes(handle, 1)
    setPatience(Self.patience)
  }

  /// Sets the milliseconds to wait for locks of other connections.
  package func setPatience(_ milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

  deinit { close() }

  /// - Precondition: nothing was done with the database but looking at its version.
  package func configure(_ settings: Settings) throws(StoreError) {
    if try integer("PRAGMA page_count") == 0 {
      // The number of reserved bytes has to be in the header before the log begins.
      if settings.reservedBytes > 0 { reserve(settings.reservedBytes) }
      try execute(settings.creation)
    }
    try execute(settings.opening)
    fullCache = settings.fullCache
  }

  /// Leaves bytes at the end of each page to its checksum: in an empty database, or in a copy that VACUUM makes.
  package func reserve(_ bytes: Int32) {
    var bytes = bytes
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes)
  }

  /// Closes the database; statements are unusable afterwards.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    for statement in statements.all { sqlite3_finalize(statement) }
    // Closing can only fail for statements in use, and there are none.
    sqlite3_close(handle)
  }

  // MARK: Statements

  /// Runs a statement whose rows, if any, do not matter.
  @inlinable package func run<each Argument: SQLValue>(
    _ sql: StaticString, _ arguments: repeat each Argument
  ) throws(StoreError) {
    let statement = try statement(sql)
    try bind(repeat each arguments, to: statement)
    while try step(statement) {}
  }

  /// The value made of the first row, if there is one.
  @inlinable package func first<each Argument: SQLValue, Value>(
    _ sql: StaticString, _ arguments: repeat each Argument, as read: (Row) throws(StoreError) -> Value
  ) throws(StoreError) -> Value? {
    let statement = try statement(sql)
    try bind(repeat each arguments, to: statement)
    defer { sqlite3_reset(statement) }
    return try step(statement) ? try read(Row(statement)) : nil
  }

  /// The values made of all rows.
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

  /// The integer in the first row; `nil` if it is NULL, or there is no row.
  @inlinable package func integer<each Argument: SQLValue>(
    _ sql: StaticString, _ arguments: repeat each Argument
  ) throws(StoreError) -> Int64? {
    try first(sql, repeat each arguments, as: { $0.optionalInteger(0) }) ?? nil
  }

  /// Whether there is a row.
  @inlinable package func exists<each Argument: SQLValue>(
    _ sql: StaticString, _ arguments: repeat each Argument
  ) throws(StoreError) -> Bool {
    try first(sql, repeat each arguments, as: { _ in true }) ?? false
  }

  /// Runs statements without parameters once.
  package func execute(_ sql: String) throws(StoreError) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw compileError }
  }

  /// Calls `body` with each row of a statement that is composed at its use, and is not kept.
  package func forEachRow(
    composed sql: String, do body: (Row) throws(StoreError) -> Void
  ) throws(StoreError) {
    var compiled: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &compiled, nil) == SQLITE_OK, let compiled else { throw compileError }
    defer { sqlite3_finalize(compiled) }
    while try step(compiled) { try body(Row(compiled)) }
  }

  /// The integer in the first row of a composed statement; `nil` if it is NULL, or there is no row.
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

  /// - Returns: whether there is a row; after the last one the statement is reset.
  @usableFromInline func step(_ statement: OpaquePointer) throws(StoreError) -> Bool {
    let code = sqlite3_step(statement)
    if code == SQLITE_ROW { return true }
    defer { sqlite3_reset(statement) }
    if code == SQLITE_DONE { return false }
    throw error
  }

  // MARK: Transactions

  /// Runs `body` in one transaction: all of it is stored, or nothing.
  package func transaction<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    let changes = changeCount
    try run("BEGIN IMMEDIATE")
    do throws(StoreError) {
      let value = try body()
      let writesFirstPage = owesFirstPage && changeCount != changes
      if writesFirstPage { try writeFirstPage() }
      try run("COMMIT")
      if !isInMemory { noteLog(hasFirstPage: writesFirstPage) }
      if changeCount - changes >= Self.manyRows { growCache() }
      return value
    } catch {
      // SQLite has already rolled back after some errors (a full disk). Should the rollback itself fail, the first
      // error is the one to report: the journal undoes the transaction when the file is next opened.
      if sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
      throw error
    }
  }

  /// Writes the schema version again unchanged, which writes the first page and counts up a number in SQLite's own
  /// header.
  private func writeFirstPage() throws(StoreError) {
    try execute("PRAGMA user_version = \(try integer("PRAGMA user_version") ?? 0)")
  }

  private func noteLog(hasFirstPage: Bool) {
    if hasFirstPage { owesFirstPage = false }
    let begun = cpc_begun_logs(handle)
    if begun == begunLogs { return }
    begunLogs = begun
    owesFirstPage = !hasFirstPage
  }

  /// Runs many statements that only read. Each by itself would find out anew the state of the file, which takes about
  /// as long as finding a row; inside of a transaction it does not.
  package func readingTransaction<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    if sqlite3_get_autocommit(handle) == 0 { return try body() }
    if hasReadManyPages { growCache() }
    let misses = fullCache == nil ? 0 : pageMisses
    try run("BEGIN")
    defer {
      // A transaction without changes may end either way.
      if (try? run("COMMIT")) == nil { try? run("ROLLBACK") }
      if fullCache != nil { hasReadManyPages = pageMisses - misses >= Self.manyPages }
    }
    return try body()
  }

  /// The number of times that a page was not in the cache.
  private var pageMisses: Int32 {
    var (count, unused): (Int32, Int32) = (0, 0)
    return sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &count, &unused, 0) == SQLITE_OK ? count : 0
  }

  private func growCache() {
    guard let size = fullCache else { return }
    fullCache = nil
    // A connection that keeps its smaller cache is slower, and nothing else.
    try? keepPages(upTo: size << 10)
  }

  /// Bounds the pages that are kept in memory. A database in memory keeps all of its own.
  package func keepPages(upTo bytes: Int) throws(StoreError) { try execute("PRAGMA cache_size = -\(bytes >> 10)") }

  /// A number that changes when another connection has changed the database.
  package var foreignVersion: Int64 {
    get throws(StoreError) { try integer("PRAGMA data_version") ?? 0 }
  }

  /// A count that grows with every row that is inserted, changed or deleted.
  package var changeCount: Int64 { sqlite3_total_changes64(handle) }

  /// The number of rows that the last INSERT, UPDATE or DELETE changed.
  package var rowsChangedLast: Int { Int(sqlite3_changes(handle)) }

  /// Reads every page and compares SQLite's structures. O(size).
  /// - Returns: the first fault, in SQLite's words; `nil` if there is none.
  package func integrityComplaint() throws(StoreError) -> String? {
    let answer = try first("PRAGMA integrity_check(1)", as: { $0.text(0) }) ?? ""
    // The fault comes after a line that names the database.
    return answer == "ok" ? nil : String(answer.split(separator: "\n").last ?? "")
  }

  // MARK: Errors

  @usableFromInline var error: StoreError {
    StoreError(
      resultCode: sqlite3_extended_errcode(handle), String(cString: sqlite3_errmsg(handle)),
      systemError: sqlite3_system_errno(handle), of: name)
  }

  /// The error of a statement that cannot be compiled. The statements are correct, so that the tables must differ from
  /// those that this program makes.
  private var compileError: StoreError {
    guard sqlite3_errcode(handle) == SQLITE_ERROR else { return error }
    return StoreError(.corrupt, "The \(name) is damaged (\(String(cString: sqlite3_errmsg(handle)))).")
  }
}
