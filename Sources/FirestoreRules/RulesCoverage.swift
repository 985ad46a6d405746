// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// How often each expression of a ruleset came to which value.
package struct RulesCoverage: Sendable {
  /// What an expression came to.
  package enum Outcome: Sendable, Hashable {
    case value(Value)
    /// Its evaluation failed, or its value is none that a document can hold.
    case undefined
  }

  /// Different values of one expression that are told apart; any other counts as undefined.
  private static let mostValues = 100

  /// By expression of the ruleset.
  private(set) var counts: [Int: [Outcome: Int]] = [:]

  package init() {}

  package mutating func merge(with other: RulesCoverage) {
    for (expression, outcomes) in other.counts {
      for (outcome, count) in outcomes { add(expression, outcome, count) }
    }
  }

  mutating func count(_ expression: Int, _ value: RuleValue) {
    add(expression, value.plain.map { .value($0) } ?? .undefined, 1)
  }

  mutating func countFailure(_ expression: Int) { add(expression, .undefined, 1) }

  private mutating func add(_ expression: Int, _ outcome: Outcome, _ count: Int) {
    let isFull = counts[expression].map { $0.count >= Self.mostValues && $0[outcome] == nil } ?? false
    counts[expression, default: [:]][isFull ? .undefined : outcome, default: 0] += count
  }
}

/// One expression of a coverage report, with those that it is made of.
package struct RulesCoverageNode: Sendable {
  package var position: RulesPosition
  package var values: [(value: RulesCoverage.Outcome, count: Int)]
  package var children: [RulesCoverageNode]
}

extension RuleValue {
  /// As a value of a document, where it is small and of a type that documents have.
  fileprivate var plain: Value? {
    switch self {
    case .null: .null
    case .bool(let value): .boolean(value)
    case .int(let value): .integer(value)
    case .float(let value): .double(value)
    case .string(let text): text.utf8.count <= 200 ? .string(text) : nil
    case .timestamp(let time): .timestamp(time)
    case .latlng(let point): .geoPoint(point)
    case .path(let path): .string(path.text)
    default: nil
    }
  }
}
