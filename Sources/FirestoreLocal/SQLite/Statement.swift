// SPDX-License-Identifier: Apache-2.0
import GRDBSQLite

/// A prepared statement, kept for the life of its connection and reused.
///
/// Bindings are given by position from 1, columns by position from 0, as SQLite counts.
final class Statement {
  private let pointer: OpaquePointer
  private var isFinalized = false

  /// - Parameter pointer: from `sqlite3_prepare_v3`; owned from now on.
  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { finalize() }

  /// Must happen before the connection closes; the statement is unusable afterwards.
  func finalize() {
    if isFinalized { return }
    isFinalized = true
    sqlite3_finalize(pointer)
  }

  /// Tells SQLite to copy what is bound.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  // MARK: Binding

  @discardableResult func bind(_ value: Int64, at index: Int32) -> Statement {
    sqlite3_bind_int64(pointer, index, value)
    return self
  }

  @discardableResult func bind(_ value: Int64?, at index: Int32) -> Statement {
    if let value { sqlite3_bind_int64(pointer, index, value) } else { sqlite3_bind_null(pointer, index) }
    return self
  }

  @discardableResult func bind(_ text: String?, at index: Int32) -> Statement {
    guard var text else {
      sqlite3_bind_null(pointer, index)
      return self
    }
    text.withUTF8 { bind(text: $0, at: index) }
    return self
  }

  func bind(text: UnsafeBufferPointer<UInt8>, at index: Int32) {
    guard let base = text.baseAddress else {
      sqlite3_bind_text(pointer, index, "", 0, Self.copied)
      return
    }
    base.withMemoryRebound(to: CChar.self, capacity: text.count) {
      _ = sqlite3_bind_text(pointer, index, $0, Int32(text.count), Self.copied)
    }
  }

  /// - Parameter bytes: stored as NULL if empty.
  @discardableResult func bind(_ bytes: [UInt8]?, at index: Int32) -> Statement {
    if let bytes, !bytes.isEmpty {
      bytes.withUnsafeBytes { _ = sqlite3_bind_blob(pointer, index, $0.baseAddress, Int32($0.count), Self.copied) }
    } else {
      sqlite3_bind_null(pointer, index)
    }
    return self
  }

  // MARK: Running

  /// - Returns: whether there is a row; after the last one the statement is reset.
  func step() throws(LocalStoreError) -> Bool {
    let code = sqlite3_step(pointer)
    if code == SQLITE_ROW { return true }
    defer { reset() }
    if code == SQLITE_DONE { return false }
    let connection = sqlite3_db_handle(pointer)
    throw LocalStoreError(
      sqlite: sqlite3_extended_errcode(connection), String(cString: sqlite3_errmsg(connection)))
  }

  /// Runs a statement whose rows, if any, do not matter.
  func run() throws(LocalStoreError) {
    while try step() {}
  }

  /// Calls `body` for each row; the statement is reset however the loop ends.
  func forEachRow(_ body: (Statement) throws(LocalStoreError) -> Void) throws(LocalStoreError) {
    defer { reset() }
    while try step() { try body(self) }
  }

  /// The value made of the first row, if there is one.
  func first<R>(_ body: (Statement) throws(LocalStoreError) -> R) throws(LocalStoreError) -> R? {
    defer { reset() }
    return try step() ? try body(self) : nil
  }

  func reset() { sqlite3_reset(pointer) }

  // MARK: Columns of the current row

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

  func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

  func text(_ column: Int32) -> String { String(decoding: textBytes(column), as: UTF8.self) }

  /// Valid until the next step.
  func textBytes(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
    let start = sqlite3_column_text(pointer, column)
    return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
  }

  /// Valid until the next step; empty for NULL.
  func blobBytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(pointer, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
  }

  func blob(_ column: Int32) -> [UInt8] { [UInt8](blobBytes(column)) }
}
