// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import FirestoreSQLite

@Suite("SQLite connection") struct ConnectionTests {
  private let connection: Connection

  init() throws {
    connection = try Connection(path: nil, called: "store")
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x ANY) STRICT")
  }

  private func add(_ id: Int, _ value: (some SQLValue)?) throws {
    try connection.run("INSERT INTO t VALUES (?, ?)", id, value)
  }

  @Test("Bound values read back unchanged, including empty and absent ones")
  func values() throws {
    try add(1, "naïve\u{0}text")
    try add(2, [0, 255] as [UInt8])
    try add(3, "")
    try add(4, [] as [UInt8])
    try add(5, Int64.min)
    try add(6, Int?.none)

    let types = try connection.all("SELECT typeof(x) FROM t ORDER BY id") { $0.text(0) }
    #expect(types == ["text", "blob", "text", "blob", "integer", "null"])
    #expect(try connection.first("SELECT x FROM t WHERE id = ?", 1) { $0.text(0) } == "naïve\u{0}text")
    #expect(try connection.first("SELECT x FROM t WHERE id = ?", 2) { $0.blob(0) } == [0, 255])
    #expect(try connection.integer("SELECT x FROM t WHERE id = ?", 5) == .min)
    #expect(try connection.integer("SELECT x FROM t WHERE id = ?", 6) == nil)
    #expect(try connection.integer("SELECT x FROM t WHERE id = ?", 7) == nil)
    #expect(try connection.exists("SELECT 1 FROM t WHERE id = ?", 6))
  }

  @Test("A scan stops when the caller asks, and its statement can run again")
  func scan() throws {
    for id in 1...9 { try add(id, id) }
    for end in [3, 5] as [Int64] {
      var seen: [Int64] = []
      try connection.scan("SELECT id FROM t ORDER BY id") { row in
        seen.append(row.integer(0))
        return row.integer(0) < end
      }
      #expect(seen == Array(1...end))
    }
  }

  @Test("A failed transaction stores nothing and does not affect the next one")
  func rollback() throws {
    let error = #expect(throws: StoreError.self) {
      try connection.transaction { () throws(StoreError) in
        try connection.run("INSERT INTO t VALUES (1, 1)")
        try connection.run("INSERT INTO t VALUES (1, 2)")
      }
    }
    #expect(error?.kind == .sqlite)
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)

    try connection.transaction { () throws(StoreError) in try connection.run("INSERT INTO t VALUES (1, 2)") }
    #expect(try connection.integer("SELECT x FROM t") == 2)
  }

  @Test("A missing table is reported as damage")
  func lost() throws {
    let error = #expect(throws: StoreError.self) { try connection.run("SELECT 1 FROM elsewhere") }
    #expect(error == StoreError(.corrupt, "The store is damaged (no such table: elsewhere)."))
  }
}
