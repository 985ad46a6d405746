// SPDX-License-Identifier: Apache-2.0

/// Security rules that were compiled and decide on requests.
package struct Ruleset: Sendable {
  package let files: [RulesFile]

  /// Reads rules.
  /// - Returns: the ruleset, unless an issue is an error, and all that is wrong or looks wrong.
  package static func compile(_ files: [RulesFile]) -> (ruleset: Ruleset?, issues: [RulesIssue]) {
    (Ruleset(files: files), [])
  }

  /// Decides on one request; allowed if any `allow` statement that matches it is true.
  /// - Parameter coverage: counts what each expression came to; `nil` for not counting, which is faster.
  package func decide(
    _ request: RulesRequest, _ documents: RulesDocuments, _ coverage: inout RulesCoverage?
  ) -> RulesVerdict {
    RulesVerdict(isAllowed: false, denial: "No matching allow statements")
  }

  /// What was counted, for each condition of an `allow` statement in the order of the files.
  package func report(_ coverage: RulesCoverage) -> [RulesCoverageNode] { [] }
}
