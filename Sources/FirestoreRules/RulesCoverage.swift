// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// What expressions came to during one decision, in the order of their evaluation.
package struct RulesTrace: Sendable {
  struct Step: Sendable {
    let expression: Int
    let outcome: RulesCoverage.Outcome
  }

  private(set) var steps: [Step] = []

  package init() {}

  /// - Parameter value: `nil` for an expression that failed.
  mutating func note(_ expression: Int, _ value: RuleValue?) {
    steps.append(Step(expression: expression, outcome: value?.plain.map { .value($0) } ?? .undefined))
  }

  /// Forgets all; what it takes to note as much again stays reserved.
  package mutating func clear() { steps.removeAll(keepingCapacity: true) }
}

/// How often each expression of a ruleset came to which value.
package struct RulesCoverage: Sendable {
  /// What an expression came to.
  package enum Outcome: Sendable, Hashable {
    case value(Value)
    /// Its evaluation failed, or its value is none that a document can hold.
    case undefined
  }

  /// The outcomes of one expression. Those of conditions are most of all, and are counted without a table.
  fileprivate struct Counts {
    var isTrue = 0
    var isFalse = 0
    var undefined = 0
    var others: [Value: Int] = [:]
    /// The last other value, not yet counted in the table: one often follows itself.
    var last: (value: Value, count: Int)?
  }

  /// Different values of one expression that are told apart; any other counts as undefined.
  private static let mostValues = 100

  /// By expression of the ruleset.
  private var counts: [Counts] = []

  package init() {}

  /// Adds what one decision noted, which is forgotten.
  package mutating func take(_ trace: inout RulesTrace) {
    for step in trace.steps {
      while counts.count <= step.expression { counts.append(Counts()) }
      counts[step.expression].count(step.outcome, Self.mostValues)
    }
    trace.clear()
  }

  /// What an expression came to, the most frequent first.
  func values(of expression: Int) -> [(value: Outcome, count: Int)] {
    guard counts.indices.contains(expression) else { return [] }
    var counts = counts[expression]
    counts.settle(Self.mostValues)
    let plain: [(Outcome, Int)] = [
      (.value(.boolean(true)), counts.isTrue), (.value(.boolean(false)), counts.isFalse),
      (.undefined, counts.undefined),
    ]
    return (plain.filter { $0.1 > 0 } + counts.others.map { (.value($0.key), $0.value) })
      .map { (value: $0.0, count: $0.1) }.sorted { $0.count > $1.count }
  }
}

extension RulesCoverage.Counts {
  fileprivate mutating func count(_ outcome: RulesCoverage.Outcome, _ mostValues: Int) {
    switch outcome {
    case .value(.boolean(true)): isTrue += 1
    case .value(.boolean(false)): isFalse += 1
    case .value(let value):
      if last?.value == value {
        last?.count += 1
      } else {
        settle(mostValues)
        last = (value, 1)
      }
    case .undefined: undefined += 1
    }
  }

  /// Counts the last other value in the table.
  fileprivate mutating func settle(_ mostValues: Int) {
    guard let (value, count) = last else { return }
    last = nil
    if others.count < mostValues || others[value] != nil {
      others[value, default: 0] += count
    } else {
      undefined += count
    }
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
