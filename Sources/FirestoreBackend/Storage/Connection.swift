// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite

/// The one SQLite connection, inside GRDB's queue. Statements are prepared once and held by GRDB; stepping goes to the
/// C API, where GRDB's rows and arguments cost more than SQLite itself does (measured: 1.3 to 2 times).
struct Connection {
  let database: Database

  /// Runs a statement that returns no rows.
  func run(_ sql: String, _ arguments: Argument...) throws(BackendError) {
    let statement = try prepare(sql, arguments)
    defer { sqlite3_reset(statement) }
    while try step(statement) {}
  }

  /// Visits rows until `visit` returns false. The statement must not be started again inside of `visit`.
  func each(
    _ sql: String, _ arguments: Argument..., visit: (ResultRow) throws(BackendError) -> Bool
  ) throws(BackendError) {
    try each(sql, arguments, visit: visit)
  }

  func each(
    _ sql: String, _ arguments: [Argument], visit: (ResultRow) throws(BackendError) -> Bool
  ) throws(BackendError) {
    let statement = try prepare(sql, arguments)
    defer { sqlite3_reset(statement) }
    while try step(statement) {
      if try !visit(ResultRow(statement: statement)) { return }
    }
  }

  /// The first row, converted; `nil` when there is none.
  func first<Result>(
    _ sql: String, _ arguments: Argument..., convert: (ResultRow) throws(BackendError) -> Result
  ) throws(BackendError) -> Result? {
    let statement = try prepare(sql, arguments)
    defer { sqlite3_reset(statement) }
    return try step(statement) ? try convert(ResultRow(statement: statement)) : nil
  }

  /// Runs `body` between BEGIN and COMMIT; nothing of it remains when it throws.
  func transaction<Result>(_ body: () throws(BackendError) -> Result) throws(BackendError) -> Result {
    try run("BEGIN IMMEDIATE")
    do throws(BackendError) {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // SQLite has rolled back by itself after some errors; the first error is the one to report.
      if database.isInsideTransaction { try? run("ROLLBACK") }
      throw error
    }
  }

  var insertedRowID: Int64 { sqlite3_last_insert_rowid(database.sqliteConnection) }

  /// How many rows the last INSERT, UPDATE or DELETE touched.
  var changedRows: Int { Int(sqlite3_changes(database.sqliteConnection)) }

  private func step(_ statement: OpaquePointer) throws(BackendError) -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let connection = database.sqliteConnection
      throw BackendError(
        resultCode: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)),
        systemError: sqlite3_system_errno(connection))
    }
  }

  private func prepare(_ sql: String, _ arguments: [Argument]) throws(BackendError) -> OpaquePointer {
    let handle: OpaquePointer
    do {
      handle = try database.cachedStatement(sql: sql).sqliteStatement
    } catch { throw BackendError(error) }
    for (index, argument) in arguments.enumerated() {
      let code = argument.bind(to: handle, at: Int32(index + 1))
      if code != SQLITE_OK { throw BackendError(resultCode: code, message: "binding argument \(index + 1)") }
    }
    return handle
  }
}

/// What a statement's parameter is bound to. Text is bound as bytes: names may contain NUL.
enum Argument {
  case integer(Int64)
  case bytes([UInt8])
  case null

  fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .integer(let value): return sqlite3_bind_int64(statement, index, value)
    case .null: return sqlite3_bind_null(statement, index)
    case .bytes(let bytes):
      if bytes.isEmpty { return sqlite3_bind_zeroblob(statement, index, 0) }
      // SQLITE_TRANSIENT: SQLite keeps its own copy.
      let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      return bytes.withUnsafeBytes { sqlite3_bind_blob(statement, index, $0.baseAddress, Int32($0.count), copied) }
    }
  }
}

extension Argument: ExpressibleByIntegerLiteral {
  init(integerLiteral value: Int64) { self = .integer(value) }
}

/// The current row of a running statement; valid until the next step.
struct ResultRow {
  let statement: OpaquePointer

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

  func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let start = sqlite3_column_blob(statement, column)
    return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
  }

  func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { [UInt8]($0) } }
  func text(_ column: Int32) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }
}
