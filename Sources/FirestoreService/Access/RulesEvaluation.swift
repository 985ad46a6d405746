// SPDX-License-Identifier: Apache-2.0
package import FirestoreRules

/// A request on which rules have decided, for who watches them.
package struct RulesEvaluation: Sendable {
  /// Counted from 1, in the order in which they were decided.
  package let number: Int
  package let request: RulesRequest
  package let verdict: RulesVerdict
  /// The rules that decided.
  package let files: [RulesFile]
}
