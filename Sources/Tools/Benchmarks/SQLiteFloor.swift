// SPDX-License-Identifier: Apache-2.0
import CSQLite
import FirestoreModel
import Foundation

/// Does the same work as Hearth with only SQLite, so that both can be compared. Uses the C API with prepared
/// statements, WAL and `synchronous=NORMAL`. A single table contains the documents in insertion order, with indexes on
/// the key and on `state`.
final class SQLiteFloor {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let handle: OpaquePointer
  private var statements: [String: OpaquePointer] = [:]
  private var next: Int64 = 1

  /// - Parameter path: `nil` for an in-memory database.
  init(_ path: String?) throws {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path ?? ":memory:", &handle, flags, nil) == SQLITE_OK, let handle else {
      throw Failure(description: "SQLite cannot open \(path ?? "a database in memory").")
    }
    self.handle = handle
    try run("PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16384")
    try run("PRAGMA locking_mode=EXCLUSIVE; PRAGMA wal_autocheckpoint=4000")
    try run(
      """
      CREATE TABLE IF NOT EXISTS documents (
        id INTEGER PRIMARY KEY, collection INTEGER, name TEXT, version INTEGER, state TEXT, population INTEGER,
        fields BLOB);
      CREATE UNIQUE INDEX IF NOT EXISTS by_name ON documents (collection, name);
      CREATE TABLE IF NOT EXISTS small (id INTEGER PRIMARY KEY, content BLOB);
      """)
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close(handle)
  }

  /// Inserts the documents in transactions of 500 rows.
  func insert(_ documents: [Document], indexed: Bool = true) throws {
    let statement = try prepared(
      "INSERT INTO documents (collection, name, version, state, population, fields) VALUES (1, ?, ?, ?, ?, ?)")
    for (number, document) in documents.enumerated() {
      if number % 500 == 0 { try run("BEGIN IMMEDIATE") }
      bind(document.key.documentID, to: statement, 1)
      sqlite3_bind_int64(statement, 2, document.version?.microseconds ?? 0)
      if indexed, case .string(let state)? = document[FieldPath("state")] { bind(state, to: statement, 3) }
      if indexed, case .integer(let population)? = document[FieldPath("population")] {
        sqlite3_bind_int64(statement, 4, population)
      }
      if let bytes = document.data?.encoded.bytes {
        bytes.withUnsafeBytes { _ = sqlite3_bind_blob(statement, 5, $0.baseAddress, Int32($0.count), Self.copied) }
      }
      try step(statement)
      if number % 500 == 499 || number == documents.count - 1 { try run("COMMIT") }
    }
  }

  func addIndexes() throws {
    try run("CREATE INDEX IF NOT EXISTS by_state ON documents (state)")
    try run("CREATE INDEX IF NOT EXISTS by_population ON documents (population)")
  }

  /// Iterates over all rows and reads their bytes.
  func scan() throws { try touch("SELECT id, name, fields FROM documents") }

  func read(state: Int) throws { try touch("SELECT id, name, fields FROM documents WHERE state = ?", state) }

  func readFirstByPopulation() throws {
    try touch("SELECT id, name, fields FROM documents ORDER BY population LIMIT 50")
  }

  func read(_ name: String) throws {
    let statement = try prepared("SELECT id, name, fields FROM documents WHERE collection = 1 AND name = ?")
    bind(name, to: statement, 1)
    try drain(statement)
  }

  /// Inserts one row in a separate transaction.
  func writeOneRow(_ bytes: [UInt8]) throws {
    try step(try prepared("BEGIN IMMEDIATE"))
    let statement = try prepared("INSERT INTO small (content) VALUES (?)")
    bytes.withUnsafeBytes { _ = sqlite3_bind_blob(statement, 1, $0.baseAddress, Int32($0.count), Self.copied) }
    try step(statement)
    try step(try prepared("COMMIT"))
  }

  /// Deletes the first rows.
  func delete(first count: Int) throws { try run("DELETE FROM documents WHERE id <= \(count)") }

  private func touch(_ sql: String, _ state: Int? = nil) throws {
    let statement = try prepared(sql)
    if let state, case .string(let text) = SampleData.state(state) { bind(text, to: statement, 1) }
    try drain(statement)
  }

  private func drain(_ statement: OpaquePointer) throws {
    var sum = 0
    while sqlite3_step(statement) == SQLITE_ROW {
      let count = Int(sqlite3_column_bytes(statement, 2))
      guard let bytes = sqlite3_column_blob(statement, 2) else { continue }
      sum &+= Int(bytes.load(fromByteOffset: count - 1, as: UInt8.self))
    }
    sqlite3_reset(statement)
    // The sum prevents the optimizer from removing the loop.
    if sum == .min { throw failure }
  }

  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  private func bind(_ text: String, to statement: OpaquePointer, _ index: Int32) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        _ = sqlite3_bind_text(statement, index, $0.baseAddress, Int32($0.count), Self.copied)
      }
    }
  }

  private func step(_ statement: OpaquePointer) throws {
    guard sqlite3_step(statement) == SQLITE_DONE else { throw failure }
    sqlite3_reset(statement)
  }

  private func prepared(_ sql: String) throws -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
      let statement
    else { throw failure }
    statements[sql] = statement
    return statement
  }

  private func run(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
  }

  private var failure: Failure { Failure(description: "SQLite: \(String(cString: sqlite3_errmsg(handle)))") }
}
