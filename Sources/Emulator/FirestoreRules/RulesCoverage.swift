// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The coverage of a ruleset: how often each expression had each value.
package struct RulesCoverage: Sendable {
  /// The result of evaluating an expression.
  package enum Outcome: Sendable, Hashable {
    case value(Value)
    /// A failed evaluation, or a value that documents cannot contain.
    case undefined
  }

  /// The outcomes of one expression. Most expressions are conditions; true and false are counted without a dictionary.
  fileprivate struct Counts {
    var isTrue = 0
    var isFalse = 0
    var undefined = 0
    var others: [Value: Int] = [:]
    /// The latest values other than true and false, which are not counted in `others` yet. Values often repeat, and
    /// adding several together is faster.
    var recent: [(value: Value, count: Int)] = []
  }

  /// The maximum number of different values of one expression. Further values count as undefined.
  private static let mostValues = 100

  /// The counts of each expression of the ruleset, by its index.
  private var counts: [Counts] = []

  package init() {}

  mutating func makeRoom(for expressions: Range<Int>) {
    while counts.count < expressions.count { counts.append(Counts()) }
  }

  mutating func countUndefined(_ expression: Int) { counts[expression].undefined += 1 }

  mutating func count(_ value: RuleValue, of expression: Int) {
    if case .bool(let isTrue) = value {
      if isTrue { counts[expression].isTrue += 1 } else { counts[expression].isFalse += 1 }
    } else if value.isPlain {
      counts[expression].count(value, Self.mostValues)
    } else {
      counts[expression].undefined += 1
    }
  }

  /// Counts another occurrence of an outcome.
  mutating func count(_ outcome: Outcome, of expression: Int) {
    switch outcome {
    case .value(.boolean(true)): counts[expression].isTrue += 1
    case .value(.boolean(false)): counts[expression].isFalse += 1
    case .value(let value): counts[expression].count(value, Self.mostValues)
    case .undefined: counts[expression].undefined += 1
    }
  }

  /// Adds the counts of another coverage of the same rules.
  package mutating func add(_ other: RulesCoverage) {
    makeRoom(for: other.counts.indices)
    for (expression, counts) in other.counts.enumerated() { self.counts[expression].add(counts, Self.mostValues) }
  }

  /// The outcomes of an expression with their counts, most frequent first.
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
  private static let mostRecent = 32

  fileprivate mutating func count(_ value: RuleValue, _ mostValues: Int) {
    if let last = recent.indices.last, value.isSame(as: recent[last].value) {
      recent[last].count += 1
    } else if let plain = value.plain {
      if recent.count == Self.mostRecent { settle(mostValues) }
      recent.append((plain, 1))
    }
  }

  fileprivate mutating func count(_ value: Value, _ mostValues: Int) {
    if let last = recent.indices.last, recent[last].value == value {
      recent[last].count += 1
    } else {
      if recent.count == Self.mostRecent { settle(mostValues) }
      recent.append((value, 1))
    }
  }

  fileprivate mutating func add(_ other: RulesCoverage.Counts, _ mostValues: Int) {
    var other = other
    settle(mostValues)
    other.settle(mostValues)
    isTrue += other.isTrue
    isFalse += other.isFalse
    undefined += other.undefined
    for (value, count) in other.others { settle(value, count, mostValues) }
  }

  /// Adds the latest other values to `others`.
  fileprivate mutating func settle(_ mostValues: Int) {
    for (value, count) in recent { settle(value, count, mostValues) }
    recent.removeAll(keepingCapacity: true)
  }

  private mutating func settle(_ value: Value, _ count: Int, _ mostValues: Int) {
    if others.count < mostValues || others[value] != nil {
      others[value, default: 0] += count
    } else {
      undefined += count
    }
  }
}

extension RulesCoverage.Outcome {
  /// The outcome of a value, as `RulesCoverage` counts it.
  init(_ value: RuleValue) {
    self = value.isPlain ? value.plain.map { .value($0) } ?? .undefined : .undefined
  }
}

/// One expression of a coverage report, with the expressions inside it.
package struct RulesCoverageNode: Sendable {
  package var position: RulesPosition
  package var values: [(value: RulesCoverage.Outcome, count: Int)]
  package var children: [RulesCoverageNode]
}

extension RuleValue {
  /// Whether the value is small and of a type that documents can contain.
  fileprivate var isPlain: Bool {
    switch self {
    case .null, .bool, .int, .float, .timestamp, .latlng, .path: true
    case .string(let text): text.utf8.count <= 200
    case .bytes, .duration, .list, .vector, .set, .map, .mapDiff, .constraint, .oneOf: false
    }
  }

  /// The value as a document value; `nil` for a type that documents cannot contain.
  fileprivate var plain: Value? {
    switch self {
    case .null: .null
    case .bool(let value): .boolean(value)
    case .int(let value): .integer(value)
    case .float(let value): .double(value)
    case .string(let text): .string(text)
    case .timestamp(let time): .timestamp(time)
    case .latlng(let point): .geoPoint(point)
    case .path(let path): .string(path.text)
    default: nil
    }
  }

  /// Whether `plain` equals this value.
  fileprivate func isSame(as value: Value) -> Bool {
    switch (self, value) {
    case (.null, .null): true
    case (.int(let own), .integer(let other)): own == other
    case (.string(let own), .string(let other)): own.equalsUTF8(other)
    case (.timestamp(let own), .timestamp(let other)): own == other
    case (.path(let own), .string(let other)): own.hasText(other)
    default: plain == value
    }
  }
}
