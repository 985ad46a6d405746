// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOutput
import CommandTransfer
import FirestoreJSON
import FirestoreModel
import FirestoreRules

/// `hearth rules`: checks and tests files with security rules.
package struct RulesCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "rules", abstract: "Check files of security rules, or test them with cases.",
    subcommands: [Check.self, Test.self])

  /// `hearth rules check FILE…`.
  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check", abstract: "Check files of security rules.",
      discussion: """
        Each file is a separate ruleset. Every problem is a line with file, line and column. Exit status 65 if a file \
        has an error. Warnings point out valid rules that are probably mistakes, such as unknown names.
        """)

    @Argument(help: ArgumentHelp("Files of rules; - for standard input.", valueName: "file"))
    var files: [String]

    func run() throws {
      let output = OutputFile.standard()
      var bad: [String] = []
      for file in files {
        let source = try RulesSource(file)
        for line in source.problems { try output.line(ShownText(line)) }
        if source.ruleset != nil { try output.line("\(source.name): valid") } else { bad.append(source.name) }
      }
      try output.flush()
      guard let first = bad.first else { return }
      let others = bad.count > 1 ? " and \(bad.count - 1) more" : ""
      throw CommandFailure(.badData, "\(first)\(others) cannot be used.")
    }
  }

  /// `hearth rules test FILE CASES…`.
  struct Test: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "test", abstract: "Compare the decisions of security rules with expected ones.",
      discussion: """
        A file of cases has a JSON object on each line:

        {"method": "get", "path": "rooms/a", "user": "ada", "expect": "allow", "stored": {"rooms/a": {"owner": "ada"}}}

        method    get, list, create, update or delete
        path      the document; for list the collection
        expect    allow or deny
        name      a name for the case in failure messages
        user      a uid, {"uid": ..., "claims": {...}} with the claims of the token, or null
        stored    existing documents by path, as hearth get prints them
        data      for create and update: the document after the write
        mask      for create and update: the field paths of the update mask, for request.writeFields
        after     documents as the request's other writes leave them; null for a deleted one
        time      request.time, such as 2026-03-02T12:00:00Z
        query     for list, {"where": "n > 3 and (a == 1 or b == 1)", "orderBy": "n, m desc", "limit": 5, "offset": \
        2}, with conditions and orders as in 'hearth help queries'; where may also be a list of texts, [field, \
        operator, value], {"or": [...]} and {"and": [...]}; "group": "rooms" selects all collections of that name \
        below path (which may be empty)

        A line without expect sets defaults for the lines after it. If a decision is not the expected one, the case \
        fails. Failed cases are printed with the line of the rules that decided, and the exit status is 1. The last \
        line counts the evaluated expressions of the rules and lists the positions of the expressions that were not \
        evaluated. The exit status is 65 if rules or cases cannot be read.
        """)

    @Argument(help: ArgumentHelp("The file of rules.", valueName: "file"))
    var file: String

    @Argument(help: ArgumentHelp("Files of cases; - for standard input.", valueName: "in"))
    var cases: [String]

    func run() throws {
      let output = OutputFile.standard()
      let source = try RulesSource(file)
      guard let ruleset = source.ruleset else {
        for line in source.problems { try output.line(ShownText(line)) }
        try output.flush()
        throw CommandFailure(.badData, "\(source.name) cannot be used.")
      }
      var run = RulesTestRun(ruleset, name: source.name)
      for path in cases { try run.test(path, output) }
      if run.count == 0 {
        throw CommandFailure(.badData, "no cases in \(cases.joined(separator: ", ")). Nothing was tested.")
      }
      try output.line(ShownText(run.summary))
      try output.line(ShownText(run.coverage))
      try output.flush()
      if run.failures > 0 { throw CommandFailure(.failure, run.complaint) }
    }
  }

  package init() {}
}

/// A rules file that was read and compiled.
struct RulesSource {
  /// The maximum number of bytes that are read. It exceeds the maximum size of rules, so that the compiler can report
  /// rules that are too large.
  private static let mostBytes = 1024 * 1024

  let name: String
  /// The rules; `nil` if there is an error.
  let ruleset: Ruleset?
  /// The problems, each with file, line and column.
  let problems: [String]

  /// - Parameter path: `-` for standard input.
  init(_ path: String) throws(CommandFailure) {
    var input = try InputBytes(path)
    name = input.name
    let text = try input.text(atMost: Self.mostBytes)
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: input.name, content: text)])
    self.ruleset = ruleset
    problems = issues.map(\.text)
  }
}

extension RulesIssue {
  /// The problem as text, with file, line and column. A problem with the whole file has no line.
  package var text: String {
    let place = line > 0 ? "\(fileName):\(line):\(column)" : fileName
    return "\(place): \(isError ? "error" : "warning"): \(message)"
  }
}

extension InputBytes {
  /// Reads all input as text.
  /// - Throws: `badData` if the input exceeds the limit or is not valid UTF-8.
  mutating func text(atMost limit: Int) throws(CommandFailure) -> String {
    var bytes: [UInt8] = []
    while true {
      let more = try read(256 * 1024)
      if more.isEmpty { break }
      bytes += more
      if bytes.count > limit { throw CommandFailure(.badData, "\(name) is too large: more than \(limit) bytes.") }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.badData, "\(name) is not UTF-8 text.")
    }
    return text
  }
}

/// A run of test cases against rules.
struct RulesTestRun {
  private static let mostBytes = 64 * 1024 * 1024

  private let ruleset: Ruleset
  private let rulesName: String
  private(set) var count = 0
  private(set) var failures = 0
  private var counts = RulesCoverage()

  init(_ ruleset: Ruleset, name: String) {
    self.ruleset = ruleset
    rulesName = name
  }

  var summary: String { "\(Self.cases(count)), \(count - failures) as expected" }
  /// A line about how many expressions were evaluated.
  var coverage: String { ruleset.summary(counts) }
  var complaint: String { "\(failures) of \(Self.cases(count)) failed." }

  private static func cases(_ count: Int) -> String { count == 1 ? "1 case" : "\(count) cases" }

  /// Runs the test cases in a file. Prints the cases whose result is not the expected one.
  mutating func test(_ path: String, _ output: OutputFile) throws {
    var input = try InputBytes(path)
    var reader = RulesCaseReader()
    let text = try input.text(atMost: Self.mostBytes)
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.allSatisfy(\.isWhitespace) { continue }
      let place = "\(input.name):\(index + 1)"
      let read: RulesCase?
      do throws(JSONError) { read = try reader.read(try JSONSyntax(parsing: String(line))) } catch {
        throw CommandFailure(.badData, "\(place):\(error.column): \(error.reason)")
      }
      if let content = read, let complaint = complaint(content) { try output.line("\(place): \(complaint)") }
    }
  }

  private mutating func complaint(_ content: RulesCase) -> String? {
    count += 1
    // Each case has its own documents, so nothing is remembered from one to the next.
    var room = RulesRoom()
    let verdict = ruleset.decide(SharedRequest(content.request), content.documents, &room)
    counts.add(room.coverage)
    if verdict.isAllowed == content.expectsAllow { return nil }
    failures += 1
    let request = "\(content.request.method.rawValue) \(content.request.path.text)"
    let deciding = verdict.decidingLine.map { ", \(rulesName):\($0)" } ?? ""
    let what = content.name.map { "\($0): " } ?? ""
    if verdict.isAllowed { return "\(what)\(request) is allowed\(deciding)" }
    let reason = verdict.denial.split(whereSeparator: \.isNewline).joined(separator: " ")
    return "\(what)\(request) is denied\(deciding): \(reason)"
  }
}
