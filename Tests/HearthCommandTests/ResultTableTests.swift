// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Testing

@testable import DashboardHost

/// The table that `get --watch` draws again after each change.
@Suite("Watched query results in a terminal")
struct ResultTableTests {
  private static let query = Query(
    path: ResourcePath("orders"), explicitOrderBy: [OrderBy(FieldPath("total"), .descending)], limit: 2)

  private static func order(_ id: String, _ total: Int64) -> Document {
    Document(
      key: key("orders/\(id)"), version: SnapshotVersion(Timestamp(seconds: 1)),
      state: .found(DocumentData(["total": .integer(total)])))
  }

  private static func snapshot(_ old: [Document], _ new: [Document], isFromCache: Bool = false) -> ViewSnapshot {
    let (before, after) = (
      DocumentSet(comparing: query, documents: old), DocumentSet(comparing: query, documents: new)
    )
    let removed = old.filter { !after.contains($0.key) }.map { DocumentChange(kind: .removed, document: $0) }
    let others = new.compactMap { document -> DocumentChange? in
      guard let previous = before[document.key] else { return DocumentChange(kind: .added, document: document) }
      return previous.data == document.data ? nil : DocumentChange(kind: .modified, document: document)
    }
    return ViewSnapshot(
      query: query, documents: after, oldDocuments: before, changes: removed + others, mutatedKeys: [],
      isFromCache: isFromCache, syncStateChanged: false, hasCachedResults: false, causes: [])
  }

  @Test("Watched rows follow the query's order with additions, changes and removals")
  func table() {
    var table = ResultTable(Self.query, utcOffset: 0)
    let first = [Self.order("a", 10), Self.order("b", 20)]
    table.take(Self.snapshot([], first), at: Timestamp(seconds: 1))
    let size = TerminalSize(columns: 80, rows: 24)
    let begun = table.lines(size, at: Timestamp(seconds: 1)).map(\.text)
    #expect(begun[0] == "orders order total desc limit 2  ◉ live · first 2 · 00:00:01")
    #expect(begun[1].contains("total▼"))
    #expect(begun[2].hasPrefix("   1  b") && begun[3].hasPrefix("   2  a"))

    let second = [Self.order("b", 25), Self.order("c", 50)]
    table.take(Self.snapshot(first, second), at: Timestamp(seconds: 62))
    let lines = table.lines(size, at: Timestamp(seconds: 62)).map(\.text)
    #expect(lines[2].hasPrefix("+  1  c") && lines[2].contains("came in"))
    #expect(lines[3].hasPrefix("~  2  b") && lines[3].contains("total 20→25"))
    #expect(lines.last?.contains("limit 2 ╌╌ left a: beyond the limit · 00:01:02") == true)
  }

  @Test("Drawn rows never exceed the terminal's height or width")
  func bounded() {
    let query = Query(path: ResourcePath("orders"))
    var table = ResultTable(query, utcOffset: 0)
    let documents = (0..<100).map { Self.order("x\(100 + $0)", Int64($0)) }
    table.take(Self.snapshot([], documents, isFromCache: true), at: Timestamp(seconds: 1))
    let lines = table.lines(TerminalSize(columns: 30, rows: 10), at: Timestamp(seconds: 1)).map(\.text)
    #expect(lines.count == 9)
    #expect(lines.last == "  94 more")
    #expect(lines.allSatisfy { $0.count < 30 })
  }
}
