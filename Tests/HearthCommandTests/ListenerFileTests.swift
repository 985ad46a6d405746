// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Foundation
import Testing

@testable import CommandOutput
@testable import DashboardHost
@testable import HearthCommand

@Suite("Listener files")
struct ListenerFileTests {
  private let database = DatabaseID(project: "demo")
  private let folder: TemporaryFolder
  private let paths: Paths

  init() throws {
    folder = try TemporaryFolder.made()
    paths = Paths(environment: ["HOME": folder.path])
  }

  private func filter(_ path: String, _ op: FieldFilter.Operator, _ value: Value) -> Filter {
    .field(FieldFilter(FieldPath(path), op, value))
  }

  private func parsed(_ text: String) -> ListenerFile {
    ListenerFile.parse(text, name: "a.toml", database: database)
  }

  @Test("A listener is written in command-line syntax")
  func example() throws {
    let file = parsed(
      """
      # mine
      [[listener]]
      name = "to pack"
      path = "orders"
      where = ["status in [paid, new]", 'total >= 10.5']
      order = "total:desc"
      limit = 50
      source = "cache"
      metadata = false

      [[listener]]
      group = "messages"
      """)
    #expect(file.problems == [])
    let orders = Query(
      path: ResourcePath("orders"),
      filters: [filter("status", .in, ["paid", "new"]), filter("total", .greaterThanOrEqual, 10.5)],
      explicitOrderBy: [OrderBy(FieldPath("total"), .descending)], limit: 50)
    #expect(
      file.definitions == [
        ListenerDefinition(
          name: "to pack", query: orders, options: ListenerOptions(includeMetadataChanges: false, source: .cache)),
        ListenerDefinition(name: "**/messages", query: Query(path: .root, collectionGroup: "messages")),
      ])
  }

  @Test("A listener file round-trips with every type of value")
  func roundTrip() {
    let values: [Value] = [
      .null, true, 42, 4.0, .double(.nan), .double(-.infinity), "paid", "42", "it's \"x\"\n", "nil", "", "2026-01-01",
      .timestamp(Timestamp(seconds: 1, nanoseconds: 500_000_000)), .map(["a": ["b": 1]]), .bytes([1, 2]),
      .geoPoint(GeoPoint(latitude: 1.5, longitude: -2)),
      .reference(database, DocumentKey(unchecked: ResourcePath("a/b"))),
    ]
    var definitions = values.enumerated().map { index, value in
      ListenerDefinition(
        name: "n \(index) \"'", query: Query(path: ResourcePath("c"), filters: [filter("odd name.x", .equal, value)]))
    }
    definitions.append(
      ListenerDefinition(
        name: "list",
        query: Query(path: ResourcePath("c"), filters: [filter("a", .in, [1, 2]), filter("b", .arrayContains, "x")])))
    definitions.append(ListenerDefinition(name: "one", query: Query(path: ResourcePath("c/d"))))
    definitions.append(
      ListenerDefinition(
        name: "by id",
        query: Query(
          path: ResourcePath("c"),
          filters: [
            .field(
              FieldFilter(.documentID, .greaterThan, .reference(database, DocumentKey(unchecked: ResourcePath("c/d")))))
          ])))
    definitions.append(
      ListenerDefinition(
        name: "either",
        query: Query(
          path: ResourcePath("c"), filters: [.or([filter("a", .equal, 1), filter("b", .equal, 2)])])))
    let (text, left) = ListenerFile.text(of: definitions, heading: "x", database: database)
    #expect(left == [])
    let read = parsed(text)
    #expect(read.problems == [])
    #expect(read.definitions == definitions)
  }

  @Test("A query that the file format cannot represent is reported instead of changed")
  func left() {
    let query = Query(path: ResourcePath("c"), start: Bound(values: [.integer(1)], isInclusive: true))
    let (text, left) = ListenerFile.text(
      of: [ListenerDefinition(name: "later", query: query)], heading: "x", database: database)
    #expect(left == ["later"])
    #expect(text == "# x\n")
  }

  @Test("An invalid listener is skipped with line and reason, and the others open")
  func problems() {
    let file = parsed(
      """
      stray = 1
      [[listener]]
      name = "good"
      path = "orders"
      [[listener]]
      name = "typo"
      path = "orders"
      wehre = ["a == 1"]
      [[listener]]
      name = "broken
      path = "orders"
      [[listener]]
      path = "orders"
      where = ["a = True"]
      [[listener]]
      limit = 3
      [[listener]]
      path = "orders"
      limit = 0
      [[listener]]
      name = "good"
      path = "users"
      [[listener]]
      name = "last"
      path = "users/ada"
      """)
    #expect(file.definitions.map(\.name) == ["good", "last"])
    let places = file.problems.map { $0.prefix { $0 != " " } }
    #expect(places == ["a.toml:1:", "a.toml:8:", "a.toml:10:", "a.toml:14:", "a.toml:15:", "a.toml:19:", "a.toml:20:"])
    for (problem, word) in zip(
      file.problems,
      [
        "[[listener]]", "did you mean where?", "", "column 5: Did you mean true?", "path or group", "positive",
        "called good",
      ]
    ) where !word.isEmpty {
      #expect(problem.contains(word), "\(problem)")
    }
  }

  // MARK: Kept for the next start

  private var kept: SavedListeners { SavedListeners(of: .server("localhost:1", database), database, in: paths) }
  private let users = ListenerDefinition(name: "users", query: Query(path: ResourcePath("users")))
  private let orders = ListenerDefinition(name: "mine", query: Query(path: ResourcePath("orders")))

  @Test("Open listeners are reopened at the next start, for the same database only")
  func comesBack() throws {
    var first = kept
    #expect(first.read().definitions == [])
    #expect(first.keep([users, orders]) == [])
    var second = kept
    #expect(second.read().definitions == [users, orders])
    var other = SavedListeners(of: .server("localhost:2", database), database, in: paths)
    #expect(other.read().definitions == [])
    let mode = try FileManager.default.attributesOfItem(atPath: second.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test("A damaged listener file is reported and kept, and its valid listeners open")
  func damaged() throws {
    var first = kept
    _ = first.keep([users, orders])
    let text = try String(contentsOfFile: first.path, encoding: .utf8)
    try text.replacing("path = \"orders\"", with: "path = orders").write(
      toFile: first.path, atomically: true, encoding: .utf8)
    var second = kept
    let (definitions, notices) = second.read()
    #expect(definitions == [users])
    #expect(notices.count == 2)
    #expect(notices[0].hasPrefix("~/.local/state/hearth/listeners/"))
    #expect(notices[0].contains(".toml:9: "), "\(notices[0])")
    #expect(notices[1].contains(".bad"))
    #expect(second.keep(definitions) == [])
    var third = kept
    #expect(third.read().notices == [], "it is told once")
    #expect(try String(contentsOfFile: second.path + ".bad", encoding: .utf8).contains("path = orders"))
  }

  @Test("An unwritable listener file is reported once and does not stop the session")
  func unwritable() throws {
    try folder.write(".local/state/hearth/listeners", "a file where the folder should be")
    var first = kept
    #expect(first.keep([users]).count == 1)
    #expect(first.keep([users, orders]) == [])
  }
}
