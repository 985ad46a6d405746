// SPDX-License-Identifier: Apache-2.0
// The import is public, so that binding and reading values is inlined in other modules.
public import CSQLite

/// A value that can be bound to a statement's parameter.
@usableFromInline package protocol SQLValue {
  /// - Parameter index: the parameter's index, from 1.
  /// - Returns: SQLite's result code.
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Int64: SQLValue {
  @inlinable package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_int64(statement, index, self)
  }
}

extension Int: SQLValue {
  @inlinable package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_int64(statement, index, Int64(self))
  }
}

extension String: SQLValue {
  @inlinable package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    var text = self
    return text.withUTF8 { text in
      guard let base = text.baseAddress else { return sqlite3_bind_text(statement, index, "", 0, SQLite.copied) }
      return base.withMemoryRebound(to: CChar.self, capacity: text.count) {
        sqlite3_bind_text(statement, index, $0, Int32(text.count), SQLite.copied)
      }
    }
  }
}

extension [UInt8]: SQLValue {
  @inlinable package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    if isEmpty { return sqlite3_bind_zeroblob(statement, index, 0) }
    return withUnsafeBytes { sqlite3_bind_blob(statement, index, $0.baseAddress, Int32($0.count), SQLite.copied) }
  }
}

extension Optional: SQLValue where Wrapped: SQLValue {
  @inlinable package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    if let self { self.bind(to: statement, at: index) } else { sqlite3_bind_null(statement, index) }
  }
}

@usableFromInline enum SQLite {
  /// The destructor SQLITE_TRANSIENT, which makes SQLite copy the value.
  @inlinable static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

/// The current row of a running statement. It is valid until the next step. Columns are counted from 0.
@usableFromInline package struct Row {
  @usableFromInline let statement: OpaquePointer

  @inlinable init(_ statement: OpaquePointer) { self.statement = statement }

  @inlinable package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

  @inlinable package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

  @inlinable package func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

  /// The text of a text column, or of a blob column that contains UTF-8.
  @inlinable package func text(_ column: Int32) -> String { String(decoding: blobBytes(column), as: UTF8.self) }

  @inlinable package func blob(_ column: Int32) -> [UInt8] { [UInt8](blobBytes(column)) }

  /// The bytes of a blob or text column; empty for NULL. They are valid until the next step.
  @inlinable package func blobBytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
  }
}
