// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Compiled security rules. Decides requests.
package final class Ruleset: Sendable {
  package let files: [RulesFile]
  let program: Program
  /// Parts of the program in a form that is fast to read.
  let kinds: FixedList<Expression.Kind>
  let functions: FixedList<Program.Function>
  let matches: FixedList<Program.Match>
  /// Whether each function's result is valid until a document changes.
  let steadyFunctions: FixedList<Bool>

  private init(_ files: [RulesFile], _ program: Program) {
    self.files = files
    self.program = program
    kinds = FixedList(program.expressions.map(\.kind))
    functions = FixedList(program.functions)
    matches = FixedList(program.matches)
    steadyFunctions = FixedList(program.steadyFunctions)
  }

  /// Compiles rules.
  /// - Returns: the ruleset, or `nil` if there is an error; and all errors and warnings.
  package static func compile(_ files: [RulesFile]) -> (ruleset: Ruleset?, issues: [RulesIssue]) {
    var compilation = Compilation()
    guard let program = compilation.compile(files) else { return (nil, compilation.issues) }
    return (Ruleset(files, program), compilation.issues)
  }

  /// Decides one request. The request is allowed if any matching `allow` statement is true.
  package func decide(
    _ request: RulesRequest, _ documents: any RulesDocuments, provesLists: Bool = false
  ) -> RulesVerdict {
    var room = RulesRoom()
    return decide(SharedRequest(request), documents, &room, provesLists: provesLists)
  }

  /// Decides one request, and counts the values of each expression in `room`.
  /// - Parameters:
  ///   - tellsValues: whether the outcomes of an allowed request contain the values of conditions. For a denial they
  ///     always do.
  ///   - provesLists: whether a list is allowed only if the query proves the rule for all documents that it can find.
  ///     Otherwise fields that the query does not name are assumed to be absent, as in Google's emulator.
  package func decide(
    _ request: SharedRequest, _ documents: any RulesDocuments, _ room: inout RulesRoom, tellsValues: Bool = false,
    provesLists: Bool = false
  ) -> RulesVerdict {
    // The room is moved into the decision, not copied.
    var lent = RulesRoom()
    swap(&lent, &room)
    var decision = Decision(self, request, documents, consume lent, tellsValues: tellsValues, provesLists: provesLists)
    let verdict = decision.verdict()
    room = decision.leftRoom()
    return verdict
  }

  /// The counts of each condition of an `allow` statement, in the order of the files.
  package func report(_ coverage: RulesCoverage) -> [RulesCoverageNode] {
    program.matches.flatMap(\.allows).compactMap(\.condition).sorted().map { node($0, coverage) }
  }

  /// The expressions of all conditions with their counts. Expressions at the same position are listed once.
  package func expressions(_ coverage: RulesCoverage) -> [RulesCoverageNode] {
    var (all, seen) = ([RulesCoverageNode](), Set<[Int]>())
    func collect(_ node: RulesCoverageNode) {
      let position = node.position
      if seen.insert([position.file, position.currentOffset, position.endOffset]).inserted { all.append(node) }
      for child in node.children { collect(child) }
    }
    for node in report(coverage) { collect(node) }
    return all
  }

  /// The maximum number of positions in `summary`.
  private static let mostPlaces = 10

  /// The coverage in one line, with the lines of the expressions that were never evaluated.
  package func summary(_ coverage: RulesCoverage) -> String {
    let all = expressions(coverage)
    let never = all.filter(\.values.isEmpty)
    guard let first = never.first else { return "rules: all \(all.count) expressions were evaluated." }
    if never.count == all.count {
      let name = files[first.position.file].name
      return
        "rules: none of the \(all.count) expressions in \(name) was evaluated. Requests of administrators bypass rules."
    }
    let lines = Set(never.map { [$0.position.file, $0.position.line] }).sorted { $0.lexicographicallyPrecedes($1) }
    let places = lines.prefix(Self.mostPlaces).map { "\(files[$0[0]].name):\($0[1])" }.joined(separator: ", ")
    let more = lines.count > Self.mostPlaces ? " and \(lines.count - Self.mostPlaces) more lines" : ""
    return "rules: \(all.count - never.count) of \(all.count) expressions were evaluated, \(never.count) never: "
      + "\(places)\(more)."
  }

  private func node(_ id: Expression.ID, _ coverage: RulesCoverage) -> RulesCoverageNode {
    let expression = program.expressions[id]
    return RulesCoverageNode(
      position: program.sources[program.files[id]].position(expression.range),
      values: coverage.values(of: id),
      children: expression.kind.parts.map { node($0, coverage) })
  }
}

/// A file of security rules, as received from the client.
package struct RulesFile: Sendable, Hashable {
  package var name: String
  package var content: String

  package init(name: String, content: String) {
    self.name = name
    self.content = content
  }
}

/// A range of a file of rules.
package struct RulesPosition: Sendable, Hashable {
  /// The index of the file in the ruleset.
  package var file: Int
  /// The line, counted from 1.
  package var line: Int
  /// The column, counted from 1 in UTF-16 code units.
  package var column: Int
  /// The start and end (exclusive) of the range in the file, in UTF-16 code units from 0.
  package var currentOffset: Int
  package var endOffset: Int
}

/// An error or a warning about a file of rules.
package struct RulesIssue: Error, Sendable, Hashable {
  package var fileName: String
  /// The line, counted from 1.
  package var line: Int
  /// The column, counted from 1 in UTF-16 code units.
  package var column: Int
  /// The start and end (exclusive) of the text that causes the issue, in UTF-16 code units from 0.
  package var currentOffset: Int
  package var endOffset: Int
  package var message: String
  /// Whether this is an error, so that the rules cannot be used, rather than a warning.
  package var isError: Bool

  package init(
    fileName: String, line: Int, column: Int, currentOffset: Int, endOffset: Int, message: String, isError: Bool = true
  ) {
    self.fileName = fileName
    self.line = line
    self.column = column
    self.currentOffset = currentOffset
    self.endOffset = endOffset
    self.message = message
    self.isError = isError
  }
}

/// The result of trying one `allow` statement.
package struct RulesOutcome: Sendable, Hashable {
  package enum Result: Sendable, Hashable {
    case isTrue
    case isFalse
    /// The condition could not be evaluated. Contains the reason and the position.
    case failed(message: String, line: Int, column: Int)
  }

  /// The line of the statement, counted from 1.
  package var line: Int
  package var column: Int
  package var result: Result
  /// The reported values of the condition's parts.
  package var values: [SeenValue] = []
}

/// A value that rules passed to `debug`.
package struct RulesRemark: Sendable, Hashable {
  /// The maximum number of remarks of one decision.
  static let most = 100

  /// The line of the call, counted from 1.
  package var line: Int
  /// The value as a literal.
  package var text: String
}

/// The decision about a request, and its causes.
package struct RulesVerdict: Sendable {
  package var isAllowed: Bool
  /// The evaluated statements, in order.
  package var outcomes: [RulesOutcome]
  /// The line of the statement that allowed the request. For a denial, this is the line of the last evaluated
  /// statement, or `nil` if no statement matched.
  package var decidingLine: Int?
  /// The reason for the denial, in the words of Google's emulator; empty for an allowed request.
  package var denial: String
  /// The documents that the decision read with `get` and `exists`, without duplicates. If one of them changes, the
  /// decision may change.
  package var read: [DocumentKey]
  /// The number of different documents that this decision read and that no earlier decision about the request had read.
  package var accesses: Int
  /// The fields that were assumed to be absent to allow a list, because its query does not name them. `nil` if nothing
  /// was assumed; empty if only the absence of any other fields was assumed.
  package var assumed: [String]?
  /// The values that the rules passed to `debug`.
  package var debugged: [RulesRemark]

  package init(
    isAllowed: Bool, outcomes: [RulesOutcome] = [], decidingLine: Int? = nil, denial: String = "",
    read: [DocumentKey] = [], accesses: Int = 0, assumed: [String]? = nil, debugged: [RulesRemark] = []
  ) {
    self.isAllowed = isAllowed
    self.outcomes = outcomes
    self.decidingLine = decidingLine
    self.denial = denial
    self.read = read
    self.accesses = accesses
    self.assumed = assumed
    self.debugged = debugged
  }

  /// The warning about a list that was allowed although the query does not prove it; `nil` if there is no warning.
  package var warning: String? {
    guard let assumed else { return nil }
    let names = assumed.prefix(3).joined(separator: ", ") + (assumed.count > 3 ? " and others" : "")
    let what = assumed.isEmpty ? "other fields" : names
    return "Allowed although the query does not name \(what). Documents that have such fields might violate the rule."
  }
}
