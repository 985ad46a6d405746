// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Security rules that were compiled and decide on requests.
package final class Ruleset: Sendable {
  package let files: [RulesFile]
  let program: Program
  /// Parts of the program, in the form that decisions read fastest.
  let kinds: FixedList<Expression.Kind>
  let functions: FixedList<Program.Function>
  let matches: FixedList<Program.Match>
  /// Whether each function's result stands until a document changes.
  let steadyFunctions: FixedList<Bool>

  private init(_ files: [RulesFile], _ program: Program) {
    self.files = files
    self.program = program
    kinds = FixedList(program.expressions.map(\.kind))
    functions = FixedList(program.functions)
    matches = FixedList(program.matches)
    steadyFunctions = FixedList(program.steadyFunctions)
  }

  /// Reads rules.
  /// - Returns: the ruleset, unless an issue is an error, and all errors and warnings.
  package static func compile(_ files: [RulesFile]) -> (ruleset: Ruleset?, issues: [RulesIssue]) {
    var compilation = Compilation()
    guard let program = compilation.compile(files) else { return (nil, compilation.issues) }
    return (Ruleset(files, program), compilation.issues)
  }

  /// Decides on one request; allowed if any `allow` statement that matches it is true.
  package func decide(_ request: RulesRequest, _ documents: any RulesDocuments) -> RulesVerdict {
    var room = RulesRoom()
    return decide(SharedRequest(request), documents, &room)
  }

  /// Decides on one request, and counts the values of each expression in `room`.
  /// - Parameter tellsValues: whether the outcomes have the values of conditions, which those of a denial always have.
  package func decide(
    _ request: SharedRequest, _ documents: any RulesDocuments, _ room: inout RulesRoom, tellsValues: Bool = false
  ) -> RulesVerdict {
    // The room is lent to the decision, not copied.
    var lent = RulesRoom()
    swap(&lent, &room)
    var decision = Decision(self, request, documents, consume lent, tellsValues: tellsValues)
    let verdict = decision.verdict()
    room = decision.leftRoom()
    return verdict
  }

  /// The counts of each condition of an `allow` statement, in the order of the files.
  package func report(_ coverage: RulesCoverage) -> [RulesCoverageNode] {
    program.matches.flatMap(\.allows).compactMap(\.condition).sorted().map { node($0, coverage) }
  }

  private func node(_ id: Expression.ID, _ coverage: RulesCoverage) -> RulesCoverageNode {
    let expression = program.expressions[id]
    return RulesCoverageNode(
      position: program.sources[program.files[id]].position(expression.range),
      values: coverage.values(of: id),
      children: expression.kind.parts.map { node($0, coverage) })
  }
}

/// A file of security rules, as the client sent it.
package struct RulesFile: Sendable, Hashable {
  package var name: String
  package var content: String

  package init(name: String, content: String) {
    self.name = name
    self.content = content
  }
}

/// A stretch of a file of rules.
package struct RulesPosition: Sendable, Hashable {
  /// The index of the file in the ruleset.
  package var file: Int
  /// Counted from 1.
  package var line: Int
  /// Counted from 1, in UTF-16 code units.
  package var column: Int
  /// The offsets in the file at which the stretch begins and ends (exclusive), counted from 0 in UTF-16 code units.
  package var currentOffset: Int
  package var endOffset: Int

  package init(file: Int, line: Int, column: Int, currentOffset: Int, endOffset: Int) {
    self.file = file
    self.line = line
    self.column = column
    self.currentOffset = currentOffset
    self.endOffset = endOffset
  }
}

/// An error or a warning about a file of rules.
package struct RulesIssue: Error, Sendable, Hashable {
  package var fileName: String
  /// Counted from 1.
  package var line: Int
  /// Counted from 1, in UTF-16 code units.
  package var column: Int
  /// The offsets at which the wrong text begins and ends (exclusive), counted from 0 in UTF-16 code units.
  package var currentOffset: Int
  package var endOffset: Int
  package var message: String
  /// Whether the rules cannot be used; a warning otherwise.
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
    /// A condition that could not be evaluated, with the reason and the place.
    case failed(message: String, line: Int, column: Int)
  }

  /// The line of the statement, counted from 1.
  package var line: Int
  package var column: Int
  package var result: Result
  /// The values of the condition's parts, as far as they are told.
  package var values: [SeenValue]

  package init(line: Int, column: Int, result: Result, values: [SeenValue] = []) {
    self.line = line
    self.column = column
    self.result = result
    self.values = values
  }
}

/// The decision about a request, with its causes.
package struct RulesVerdict: Sendable {
  package var isAllowed: Bool
  /// The statements that were tried, in their order.
  package var outcomes: [RulesOutcome]
  /// The line of the statement that allowed; of a denial the last that was tried, `nil` when none matched.
  package var decidingLine: Int?
  /// The reason for the denial, in the words of Google's emulator; empty when the request is allowed.
  package var denial: String
  /// The documents that the decision looked at with `get` and `exists`, each once; a change of one may change the
  /// decision.
  package var read: [DocumentKey]
  /// The number of documents that this decision was the first to read for the request, each counted once.
  package var accesses: Int

  package init(
    isAllowed: Bool, outcomes: [RulesOutcome] = [], decidingLine: Int? = nil, denial: String = "",
    read: [DocumentKey] = [], accesses: Int = 0
  ) {
    self.isAllowed = isAllowed
    self.outcomes = outcomes
    self.decidingLine = decidingLine
    self.denial = denial
    self.read = read
    self.accesses = accesses
  }
}
