// SPDX-License-Identifier: Apache-2.0

/// Security rules that were compiled and decide on requests.
package struct Ruleset: Sendable {
  package let files: [RulesFile]
  private let program: Program

  /// Reads rules.
  /// - Returns: the ruleset, unless an issue is an error, and all that is wrong or looks wrong.
  package static func compile(_ files: [RulesFile]) -> (ruleset: Ruleset?, issues: [RulesIssue]) {
    var compilation = Compilation()
    guard let program = compilation.compile(files) else { return (nil, compilation.issues) }
    return (Ruleset(files: files, program: program), compilation.issues)
  }

  /// Decides on one request; allowed if any `allow` statement that matches it is true.
  /// - Parameter coverage: counts what each expression came to; `nil` for not counting, which is faster.
  package func decide(
    _ request: RulesRequest, _ documents: RulesDocuments, _ coverage: inout RulesCoverage?
  ) -> RulesVerdict {
    var decision = Decision(program, request, documents, coverage)
    let verdict = decision.verdict()
    coverage = decision.coverage
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
      values: (coverage.counts[id] ?? [:]).map { ($0.key, $0.value) }.sorted { $0.1 > $1.1 },
      children: expression.kind.parts.map { node($0, coverage) })
  }
}
