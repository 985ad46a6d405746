// SPDX-License-Identifier: Apache-2.0
package import FirestoreRules

/// A request on which rules have decided, for who watches them.
package struct RulesEvaluation: Sendable {
  /// Counted from 1, in the order in which they were decided.
  package let number: Int
  /// Of what was allowed while nobody watched, without documents: they would be kept in memory for a look that hardly
  /// ever comes.
  package let request: RulesRequest
  package let verdict: RulesVerdict
  /// The rules that decided.
  package let files: [RulesFile]
}

/// The last decisions.
struct PastEvaluations {
  /// How many are kept for those who begin to watch later.
  static let most = 200

  private var ring: [RulesEvaluation] = []
  /// How many there were in all.
  private(set) var count = 0

  mutating func append(_ evaluation: RulesEvaluation) {
    if ring.count < Self.most { ring.append(evaluation) } else { ring[count % Self.most] = evaluation }
    count += 1
  }

  /// The oldest first.
  var inOrder: [RulesEvaluation] {
    if ring.count < Self.most { return ring }
    let start = count % Self.most
    return Array(ring[start...] + ring[..<start])
  }
}
