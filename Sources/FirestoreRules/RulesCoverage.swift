// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// How often each expression of a ruleset came to which value.
package struct RulesCoverage: Sendable {
  /// What an expression came to.
  package enum Outcome: Sendable, Hashable {
    case value(Value)
    /// Its evaluation failed, or its value is none that JSON shows.
    case undefined
  }

  /// By expression of the ruleset.
  private(set) var counts: [Int: [Outcome: Int]] = [:]

  package init() {}

  package mutating func merge(with other: RulesCoverage) {
    for (expression, outcomes) in other.counts {
      counts[expression, default: [:]].merge(outcomes) { $0 + $1 }
    }
  }
}

/// One expression of a coverage report, with those that it is made of.
package struct RulesCoverageNode: Sendable {
  package var position: RulesPosition
  package var values: [(value: RulesCoverage.Outcome, count: Int)]
  package var children: [RulesCoverageNode]
}
