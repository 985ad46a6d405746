// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ClientPort
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreRules
import FirestoreTesting
import FirestoreText
import TerminalCanvas
import Testing

@testable import CommandOptions
@testable import CommandTransfer
@testable import Dashboard
@testable import DashboardHost
@testable import DashboardModel
@testable import HearthCommand
@testable import Scenarios

/// A place where people type conditions, orders, values or durations.
private struct Mouth: Sendable {
  var name: String
  /// - Throws: any error for a text that is refused.
  var read: @Sendable (String) throws -> Query
}

/// The database of cases for rules, so that references are the same everywhere.
private let database = RulesCase.database
private let collection = ResourcePath("cities")

/// A dashboard without a screen, for what its palette and its editor read.
private let dashboard = DashboardState(
  DashboardConfiguration(database: database, backend: .init(.embedded, project: "p")),
  size: Size(width: 80, height: 24),
  now: Timestamp(seconds: 0))

/// The options behind `cities`, read as the command reads them once they are parsed. Parsing texts that are values of an
/// option takes no part in the language, and in a debug build checks all options of the command anew each time.
private func onCommandLine(_ options: (inout QueryOptions) -> Void) throws -> Query {
  var path = parsed
  options(&path.selection)
  return try path.query(in: database)
}

private let parsed = QueriedPath.parseOrExit(["cities"])

private func typedIntoPalette(_ line: String) throws -> Query {
  let name = line.prefix { $0 != " " }
  let command = try #require(Keymap.withArgument.first { $0.name == name })
  let argument = try #require(command.argument)
  var state = dashboard
  _ = try argument.read(String(line.dropFirst(name.count + 1)), state).run(&state)
  return try #require(state.listeners.last?.query)
}

private func edited(_ change: (inout ListenerEditor) -> Void) throws -> Query {
  var editor = ListenerEditor()
  editor.from = TextField(collection.text)
  change(&editor)
  return try editor.query(in: database)
}

private func inFile(_ line: String) throws -> Query {
  let file = ListenerFile.parse("[[listener]]\npath = \"cities\"\n\(line)\n", name: "a.toml", database: database)
  if let problem = file.problems.first { throw TextError(problem) }
  return try #require(file.definitions.first?.query)
}

private func inScenario(_ line: String) throws -> Query {
  let steps = try ScenarioParser(database: database).steps(line, of: "file")
  guard case .client(.listen(let query, _, _))? = steps.first?.action else { throw TextError("no listener") }
  return query
}

/// The query of a case for rules.
private func inCase(_ member: String, _ text: String) throws -> Query {
  let line =
    "{\"method\": \"list\", \"path\": \"cities\", \"expect\": \"deny\", \"query\": {\"\(member)\": \(quoted(text))}}"
  var reader = RulesCaseReader()
  let content = try #require(try reader.read(try JSONSyntax(parsing: line)))
  let request = try #require(content.request.query)
  return Query(path: collection, filters: request.target.filters, explicitOrderBy: request.explicitOrderBy)
}

private func quoted(_ text: String) -> String { JSONSyntax(.string(text)).lineText }

/// The meaning that a mouth gave a text: the query's parts, or a refusal that names a column or not.
private enum Reading: Hashable {
  case query([Filter], [OrderBy])
  case refused(namesColumn: Bool)

  init(_ text: String, in mouth: Mouth) {
    do {
      let query = try mouth.read(text)
      self = .query(query.filters, query.explicitOrderBy)
    } catch {
      self = .refused(namesColumn: "\(error)".contains("column"))
    }
  }
}

@Suite("One query syntax everywhere")
struct QueryMouthTests {
  private static let conditionMouths = [
    Mouth(name: "--where") { text in try onCommandLine { $0.conditions = [text] } },
    Mouth(name: "palette") { try typedIntoPalette("listen cities where \($0)") },
    Mouth(name: "listener editor") { text in try edited { $0.clauses = [.init(path: TextField(text))] } },
    Mouth(name: "listener file") { try inFile("where = \(quoted($0))") },
    Mouth(name: "scenario") { try inScenario("listen cities where \($0)") },
    Mouth(name: "case for rules") { try inCase("where", $0) },
  ]

  private static let orderMouths = [
    Mouth(name: "--order") { try QueriedPath.parse(["cities", "--order", $0]).query(in: database) },
    Mouth(name: "palette") { try typedIntoPalette("listen cities order by \($0)") },
    Mouth(name: "listener editor") { text in try edited { $0.order = TextField(text) } },
    Mouth(name: "listener file") { try inFile("order = \(quoted($0))") },
    Mouth(name: "scenario") { try inScenario("listen cities order \($0)") },
    Mouth(name: "case for rules") { try inCase("orderBy", $0) },
  ]

  /// Mouths for one value of the field `a`, which is equal to it.
  private static let valueMouths = [
    Mouth(name: "--where") { text in try onCommandLine { $0.conditions = ["a == \(text)"] } },
    Mouth(name: "listener editor, in its own place") { text in
      try edited { $0.clauses = [.init(path: TextField("a"), op: .equal, value: TextField(text))] }
    },
    Mouth(name: "filter") { text in
      let terms = try RowFilter("a:\(text)", in: database).terms
      guard terms.count == 1, case .field(let filter) = terms[0].condition else { throw TextError("words") }
      return Query(path: collection, filters: [.field(filter)])
    },
    Mouth(name: "update") { text in
      let (path, syntax) = try FieldAssignment.parse("a=\(text)")
      let value = try DocumentJSON.parseValue(syntax.lineText, database: database)
      return Query(path: collection, filters: [.field(FieldFilter(path, .equal, value))])
    },
    Mouth(name: "step of a scenario") { text in
      let steps = try ScenarioParser(database: database).steps("update cities/SF a=\(text)", of: "file")
      guard case .client(.request(.request(.write(let mutations))))? = steps.first?.action,
        case .patch(let fields, _)? = mutations.first?.operation, let value = fields["a"]
      else { throw TextError("no value") }
      return Query(path: collection, filters: [.field(FieldFilter(FieldPath("a"), .equal, value))])
    },
  ]

  private func compare(_ text: String, _ mouths: [Mouth], isUnderstood: Bool) {
    let first = Reading(text, in: mouths[0])
    switch first {
    case .query: #expect(isUnderstood, "\(text) is understood")
    case .refused(let namesColumn): #expect(!isUnderstood && namesColumn, "\(text) is refused")
    }
    for mouth in mouths.dropFirst() {
      let reading = Reading(text, in: mouth)
      #expect(reading == first, "\(mouth.name) reads \(text) otherwise than \(mouths[0].name)")
    }
  }

  @Test(
    "A condition means the same in every part of Hearth",
    arguments: [
      "updatedAt < timestamp:2026-03-02", "updatedAt < 2026-03-02T11:58:03Z", "(status == new)",
      "status == new or status == paid", #"status == "a\"b""#, "a in [[1]]", #"status in [["a"],["b"]]"#,
      "status = new", "status=new", "n >= -5.0", "n > 007", "n == +4930123456", "name == New York",
      "name == Smith, John", "n == 1, status == new", "n == 1 or n == 2, status == new", "a == 'x and y'",
      "a == 1 && (b == 2 || c == 3)", "tags contains b", "tags array-contains-any [b, c]", "a not in [b]",
      "a not-in [b]", "`a b` == ref:users/ada", "`a == b` == x", "__name__ >= SF", "address.city == geo:1,2",
      "a == double:NaN", #"a == {"$bytes": "aGk="}"#, "it == it's", "limit == limit", "a == 0x10", "a == 1_000",
    ])
  func conditions(text: String) { compare(text, Self.conditionMouths, isUnderstood: true) }

  @Test(
    "An invalid condition is rejected with its column in every part of Hearth",
    arguments: [
      "status", "status ==", "status === new", "status => new", "status = = new", "status is new", "a == True",
      "a == .5", "a == +5", "a == -inf", "when > 2026-03-02", "ref == users/ada", "a == int:5", "a == 'x", "a == [1",
      "a in b", "a contain b", "(a == 1", "a == 1)", "a == f(x)", "a == Tom and Jerry", "not a == 1", "first name == x",
      "a|b == x", #"a == "x" b == 1"#, "a == 1 and", "a == timestamp:noon",
    ])
  func refusedConditions(text: String) { compare(text, Self.conditionMouths, isUnderstood: false) }

  @Test(
    "An order means the same in every part of Hearth",
    arguments: [
      "total", "total:desc", "total desc", "total DESC", "-total", "total:asc", "total ascending", "total desc, name",
      "total:desc,name:asc", "`total:desc`", "`total desc` desc", "a.b descending", "`-total`", "__name__ desc",
    ])
  func orders(text: String) { compare(text, Self.orderMouths, isUnderstood: true) }

  @Test(
    "An invalid order is rejected with its column in every part of Hearth",
    arguments: ["total:down", "total downwards", "-total desc", "a|b", "a..b", "total dsc"])
  func refusedOrders(text: String) { compare(text, Self.orderMouths, isUnderstood: false) }

  @Test(
    "A value means the same in every part of Hearth",
    arguments: [
      "new", "42", "-1.5e3", "true", "null", "NaN", "007", "1_000", "0x10", "+4930123456", "2026-03-02T11:58:03Z",
      "timestamp:2026-03-02", "ref:users/ada", "double:1", "string:5", "integer:7", "geo:1,2", "vector:0.1,0.2",
      "bytes:aGk=", #""a\"b\u0041""#, "'x y'", "[a, 'b c', 5]", #"["a", {"b": [1]}]"#, #"{"m": "x y"}"#, "it's",
      "https://x.org/y", "12:30", "a=b", "mailto:x",
    ])
  func values(text: String) { compare(text, Self.valueMouths, isUnderstood: true) }

  @Test(
    "An invalid value is rejected with its column in every part of Hearth",
    arguments: [
      "True", "None", "nil", "nan", "Infinity", "inf", "+5", ".5", "5.", "2026-03-02", "2026-3-2", "int:5", "bool:true",
      "timestmp:2026-03-02", "'x", "\"x", "[1,", "[True]", "{", "integer:x", "double:x",
    ])
  func refusedValues(text: String) { compare(text, Self.valueMouths, isUnderstood: false) }

  @Test(
    "A duration means the same in every part of Hearth",
    arguments: [
      ("30", Duration.seconds(30)), ("30s", .seconds(30)), ("5m", .seconds(300)), ("1h30m", .seconds(5400)),
      ("500ms", .milliseconds(500)), ("1.5s", .milliseconds(1500)), ("30x", nil), ("1h30", nil), ("5 s", nil),
      ("soon", nil), ("-1s", nil), ("0", nil), ("5min", nil),
    ] as [(String, Duration?)])
  func durations(text: String, expected: Duration?) throws {
    let read: [(String) throws -> Duration?] = [
      { try WatchCommand.parse(["cities", "--timeout", $0]).timeout },
      { text in
        let steps = try ScenarioParser(database: database).steps("expect nothing within \(text)", of: "file")
        guard case .client(.expectNothing(_, let limit))? = steps.first?.action else { return nil }
        return limit
      },
      { text in
        let command = Keymap.withArgument.first { $0.name == "offline" }
        let account = try command?.argument?.read(text, dashboard).account ?? ""
        return account.hasSuffix("after \(expected.map(DurationText.text) ?? "-")") ? expected : nil
      },
    ]
    for read in read {
      if let expected {
        #expect(try read(text) == expected)
      } else {
        #expect(throws: (any Error).self) { try read(text) }
      }
    }
  }
}
