// SPDX-License-Identifier: Apache-2.0

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
