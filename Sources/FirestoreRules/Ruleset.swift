// SPDX-License-Identifier: Apache-2.0

/// Security rules that were compiled and decide on requests.
package final class Ruleset: Sendable {
  package let files: [RulesFile]
  let program: Program

  private init(_ files: [RulesFile], _ program: Program) {
    self.files = files
    self.program = program
  }

  /// Reads rules.
  /// - Returns: the ruleset, unless an issue is an error, and all that is wrong or looks wrong.
  package static func compile(_ files: [RulesFile]) -> (ruleset: Ruleset?, issues: [RulesIssue]) {
    var compilation = Compilation()
    guard let program = compilation.compile(files) else { return (nil, compilation.issues) }
    return (Ruleset(files, program), compilation.issues)
  }

  /// Decides on one request; allowed if any `allow` statement that matches it is true.
  package func decide(_ request: RulesRequest, _ documents: RulesDocuments) -> RulesVerdict {
    var decision = Decision(self, SharedRequest(request), documents, nil)
    return decision.verdict()
  }

  /// Decides, and notes what each expression came to.
  package func decide(
    _ request: SharedRequest, _ documents: RulesDocuments, _ trace: inout RulesTrace
  ) -> RulesVerdict {
    // Lent, not copied.
    var lent = RulesTrace()
    swap(&lent, &trace)
    var decision = Decision(self, request, documents, consume lent)
    let verdict = decision.verdict()
    if let noted = decision.takeTrace() { trace = noted }
    return verdict
  }

  /// What was counted, for each condition of an `allow` statement in the order of the files.
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
