// SPDX-License-Identifier: Apache-2.0
package import FirestoreRules

/// A request on which rules have decided, for who watches them.
package struct RulesEvaluation: Sendable {
  /// Counted from 1, in the order in which they were decided.
  package let number: Int
  private let shared: SharedRequest
  package let verdict: RulesVerdict
  /// The rules that decided.
  package let files: [RulesFile]

  package init(number: Int, request: SharedRequest, verdict: RulesVerdict, files: [RulesFile]) {
    (self.number, self.verdict, self.files) = (number, verdict, files)
    shared = request
  }

  package var request: RulesRequest { shared.value }
}
