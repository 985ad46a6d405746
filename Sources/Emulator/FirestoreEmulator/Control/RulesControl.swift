// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreJSON
import FirestoreModel
import FirestoreRules
import FirestoreService

/// Serves security rules over HTTP (PROTOCOL §5.2): reads and replaces them, and reports their coverage, which counts
/// each value of each expression.
struct RulesControl: Sendable {
  private let rules: AccessRules
  private let project: String

  init(_ rules: AccessRules, of project: String) {
    self.rules = rules
    self.project = project
  }

  /// The rules with their warnings; the default rules if there are none.
  func current() -> HTTPAnswer {
    guard let files = rules.source(for: project)?.files else { return Self.answer([("rules", Self.json(Self.open))]) }
    return Self.answer([("rules", Self.json(files))] + Self.members(Ruleset.compile(files).issues))
  }

  /// The release of the rules in google.firebase.rules.v1.
  /// - Throws: `not-found` for a project without rules.
  func release(_ name: String) throws(RPCStatus) -> HTTPAnswer {
    _ = try files()
    return Self.answer([
      ("name", Self.text(name)), ("rulesetName", Self.text("projects/\(project)/rulesets/\(ControlRequest.rulesetID)")),
    ])
  }

  /// The current ruleset in google.firebase.rules.v1.
  /// - Throws: `not-found` for a project without rules.
  func released() throws(RPCStatus) -> HTTPAnswer {
    Self.answer([
      ("name", Self.text("projects/\(project)/rulesets/\(ControlRequest.rulesetID)")),
      ("source", Self.json(try files())),
    ])
  }

  private func files() throws(RPCStatus) -> [RulesFile] {
    if let files = rules.source(for: project)?.files { return files }
    throw RPCStatus(.notFound, "The project \(project) has no rules on this server.")
  }

  /// Replaces the rules of the project.
  /// - Throws: `invalid-argument` for an invalid request and, unless the request ignores errors, for invalid rules.
  func replace(_ body: [UInt8]) throws(RPCStatus) -> HTTPAnswer {
    let request = try Self.read(body)
    let (ruleset, issues) = Ruleset.compile(request.files)
    if let ruleset {
      rules.set(.ruleset(ruleset), for: project)
    } else if request.ignoresErrors {
      rules.set(.broken(request.files, issues), for: project)
    } else {
      throw RPCStatus(.invalidArgument, issues.compileError)
    }
    return Self.answer(Self.members(issues))
  }

  private static func members(_ issues: [RulesIssue]) -> [(String, JSONSyntax)] {
    issues.isEmpty ? [] : [("issues", JSONSyntax(.array(issues.map(json))))]
  }

  /// The coverage since the rules were loaded.
  func coverage() -> HTTPAnswer {
    guard let (source, counts) = rules.coverage(of: project) else { return current() }
    var members = [("rules", Self.json(source.files))]
    if case .ruleset(let ruleset) = source {
      members.append(("report", JSONSyntax(.array(ruleset.report(counts).map(Self.json)))))
    }
    return Self.answer(members)
  }

  /// The coverage as an HTML page.
  func coveragePage() -> HTTPAnswer {
    let page: RulesCoveragePage
    switch rules.coverage(of: project) {
    case (.ruleset(let ruleset), let counts)?:
      page = RulesCoveragePage(project: project, files: ruleset.files, nodes: ruleset.expressions(counts))
    case (.broken(let files, let issues), _)?:
      page = RulesCoveragePage(project: project, files: files, nodes: [], note: issues.compileError)
    case nil:
      page = RulesCoveragePage(
        project: project, files: Self.open, nodes: [], note: "The project has no rules, which is equivalent to these.")
    }
    return HTTPAnswer(200, type: "text/html; charset=utf-8", Array(page.html.utf8))
      .adding("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
      .adding("X-Content-Type-Options", "nosniff")
  }

  /// The last requests that the project's rules have decided, and whether the project has rules.
  func requests() -> HTTPAnswer {
    let decided = rules.lastEvaluations().filter { $0.request.database.project == project }
    return Self.answer([
      ("requests", JSONSyntax(.array(decided.map(Self.json)))),
      ("rules", JSONSyntax(.boolean(rules.source(for: project) != nil))),
    ])
  }

  // MARK: Requests

  private struct Replacement {
    var files: [RulesFile]
    var ignoresErrors = false
  }

  private static func read(_ body: [UInt8]) throws(RPCStatus) -> Replacement {
    let way = "Send {\"rules\": {\"files\": [{\"name\": \"firestore.rules\", \"content\": \"…\"}]}}."
    let unreadable = RPCStatus(.invalidArgument, "Payload isn't valid for request. \(way)")
    guard let text = String(validating: body, as: UTF8.self) else { throw unreadable }
    let json: JSONSyntax
    do throws(JSONError) { json = try JSONSyntax(parsing: text) } catch {
      throw RPCStatus(
        .invalidArgument,
        "Payload isn't valid for request. Line \(error.line), column \(error.column): \(error.reason) \(way)")
    }
    guard case .array(let files)? = json["rules"]?["files"]?.kind, !files.isEmpty else { throw unreadable }
    var replacement = Replacement(files: [])
    for file in files {
      guard case .string(let content)? = file["content"]?.kind else { throw unreadable }
      var name = "firestore.rules"
      if case .string(let given)? = file["name"]?.kind { name = given }
      replacement.files.append(RulesFile(name: name, content: content))
    }
    if case .boolean(true)? = (json["ignore_errors"] ?? json["ignoreErrors"])?.kind { replacement.ignoresErrors = true }
    return replacement
  }

  // MARK: Answers

  private static let open = [
    RulesFile(
      name: "OPEN_RULES",
      content: """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /{document=**} {
              allow read, write: if true;
            }
          }
        }
        """)
  ]

  private static func answer(_ members: [(String, JSONSyntax)]) -> HTTPAnswer {
    HTTPAnswer(200, json: Array((object(members).prettyText() + "\n").utf8))
  }

  private static func object(_ members: [(String, JSONSyntax)]) -> JSONSyntax {
    JSONSyntax(.object(members.map { JSONSyntax.Member($0.0, $0.1) }))
  }

  private static func text(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }
  private static func number(_ number: Int) -> JSONSyntax { JSONSyntax(.integer(Int64(number))) }

  private static func json(_ files: [RulesFile]) -> JSONSyntax {
    let files = files.map { object([("content", text($0.content)), ("name", text($0.name))]) }
    return object([("files", JSONSyntax(.array(files)))])
  }

  /// The position of an issue. The end offset is the offset of the issue's last character.
  private static func place(_ line: Int, _ column: Int, _ start: Int, _ end: Int) -> [(String, JSONSyntax)] {
    [
      ("line", number(line)), ("column", number(column)), ("currentOffset", number(start)),
      ("endOffset", number(max(start, end - 1))),
    ]
  }

  private static func json(_ issue: RulesIssue) -> JSONSyntax {
    var position = [("fileName", text(issue.fileName))]
    // An issue of the whole file has no position.
    if issue.line > 0 { position += place(issue.line, issue.column, issue.currentOffset, issue.endOffset) }
    return object([
      ("sourcePosition", object(position)), ("description", text(issue.message)),
      ("severity", text(issue.isError ? "ERROR" : "WARNING")),
    ])
  }

  private static func json(_ evaluation: RulesEvaluation) -> JSONSyntax {
    let (request, verdict) = (evaluation.request, evaluation.verdict)
    var members = [
      ("number", number(evaluation.number)), ("time", text(request.time.rfc3339Text)),
      ("method", text(request.method.rawValue)), ("path", text(request.path.text)),
      ("allowed", JSONSyntax(.boolean(verdict.isAllowed))), ("milliseconds", DecisionJSON.milliseconds(of: evaluation)),
    ]
    if let user = request.user { members.append(("user", text(user.uid))) }
    if let line = verdict.decidingLine { members.append(("line", number(line))) }
    if !verdict.isAllowed {
      members.append(("reason", text(String(verdict.denial.drop(while: \.isWhitespace)))))
    } else if let warning = verdict.warning {
      members.append(("reason", text(warning)))
    }
    members.append(("statements", DecisionJSON.statements(of: evaluation)))
    return object(members)
  }

  private static func json(_ node: RulesCoverageNode) -> JSONSyntax {
    let position = node.position
    var members = [
      (
        "sourcePosition",
        object(place(position.line, position.column, position.currentOffset, position.endOffset))
      )
    ]
    if !node.values.isEmpty {
      let values = node.values.map { value, count in object([("value", json(value)), ("count", number(count))]) }
      members.append(("values", JSONSyntax(.array(values))))
    }
    if !node.children.isEmpty { members.append(("children", JSONSyntax(.array(node.children.map(json))))) }
    return object(members)
  }

  private static func json(_ outcome: RulesCoverage.Outcome) -> JSONSyntax {
    switch outcome {
    case .value(let value): RulesValueJSON.of(value)
    case .undefined: object([("undefined", object([]))])
    }
  }
}
