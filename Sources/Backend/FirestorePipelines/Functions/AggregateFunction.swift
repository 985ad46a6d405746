// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A function that aggregates documents.
enum AggregateFunction: String, Sendable, CaseIterable {
  case count, sum, average, minimum, maximum, first, last
  case countIf = "count_if"
  case countDistinct = "count_distinct"
  case arrayAgg = "array_agg"
  case arrayAggDistinct = "array_agg_distinct"

  /// The allowed numbers of arguments. Without an argument, `count` counts documents.
  var arity: ClosedRange<Int> { self == .count ? 0...1 : 1...1 }
}

/// The state of an aggregation, and its memory use.
struct Accumulator {
  private let function: AggregateFunction
  private let countsDocuments: Bool
  private var count: Int64 = 0
  private var sum = NumberSum()
  private var best: Value?
  private var values: [Value] = []
  private var seen: Set<GroupKey> = []
  private var hasFirst = false
  /// The bytes of the list that the function collects.
  private var listBytes = 0

  /// The bytes of all values in the accumulator.
  var heldBytes: Int { listBytes + (best?.memorySize ?? 0) }

  init(_ accumulation: Accumulation) {
    function = accumulation.function
    countsDocuments = accumulation.value == nil
  }

  /// Adds the value of the next document. An absent value counts as null.
  mutating func add(_ value: Value?) throws(EvaluationError) {
    if countsDocuments {
      count += 1
      return
    }
    let value = value ?? .null
    let isNull = if case .null = value { true } else { false }
    switch function {
    case .count: if !isNull { count += 1 }
    case .countIf:
      switch value {
      case .boolean(true): count += 1
      case .boolean(false), .null: break
      default: throw .type("count_if", "a boolean", value)
      }
    case .countDistinct: if !isNull { _ = isNew(value) }
    case .sum, .average: sum.add(value)
    case .minimum: if !isNull { best = Comparison.extreme([value] + (best.map { [$0] } ?? []), .ascending) }
    case .maximum: if !isNull { best = Comparison.extreme([value] + (best.map { [$0] } ?? []), .descending) }
    case .first:
      if !hasFirst { best = value }
      hasFirst = true
    case .last: best = value
    case .arrayAgg: keep(value)
    case .arrayAggDistinct: if isNew(value) { keep(value) }
    }
  }

  private mutating func keep(_ value: Value) {
    values.append(value)
    listBytes += value.memorySize
  }

  private mutating func isNew(_ value: Value) -> Bool {
    guard seen.insert(GroupKey(value)).inserted else { return false }
    listBytes += value.memorySize + 64
    return true
  }

  var figure: Value {
    switch function {
    case .count, .countIf: .integer(count)
    case .countDistinct: .integer(Int64(seen.count))
    case .sum: sum.count == 0 ? .null : sum.sum
    case .average: sum.average
    case .minimum, .maximum, .first, .last: best ?? .null
    case .arrayAgg, .arrayAggDistinct: .array(values)
    }
  }
}
