// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Comparisons by the total order of values. Values of different types are unequal, but neither is less than the other.
/// An absent value equals no value.
enum Comparison {
  static let functions: [Function] = [
    Function("equal", 2...2, anything: { values, _ in .boolean(isEqual(values[0], values[1])) }),
    Function("not_equal", 2...2, anything: { values, _ in .boolean(!isEqual(values[0], values[1])) }),
    Function("less_than", 2...2, anything: { values, _ in .boolean(order(values) == .ascending) }),
    Function("greater_than", 2...2, anything: { values, _ in .boolean(order(values) == .descending) }),
    Function(
      "less_than_or_equal", 2...2,
      anything: { values, _ in .boolean(order(values).map { $0 != .descending } ?? false) }),
    Function(
      "greater_than_or_equal", 2...2,
      anything: { values, _ in .boolean(order(values).map { $0 != .ascending } ?? false) }),
    Function("cmp", 2) { values, _ in .integer(Int64(values[0].compare(values[1], .byNumber).rawValue)) },
    Function(
      "equal_any", 2...2,
      anything: { values, _ throws(EvaluationError) in
        try isAny(values, "equal_any").map { .boolean($0) } ?? .null
      }),
    Function(
      "not_equal_any", 2...2,
      anything: { values, _ throws(EvaluationError) in
        try isAny(values, "not_equal_any").map { .boolean(!$0) } ?? .null
      }),
    Function("maximum", 1...Function.many, anything: { values, _ in extreme(values, .descending) }),
    Function("minimum", 1...Function.many, anything: { values, _ in extreme(values, .ascending) }),
    Function("maximum_n", 2) { values, _ throws(EvaluationError) in
      try extremes(values, "maximum_n", .descending)
    },
    Function("minimum_n", 2) { values, _ throws(EvaluationError) in
      try extremes(values, "minimum_n", .ascending)
    },
    Function("is_nan", 1) { values, _ throws(EvaluationError) in
      .boolean(try Number(values[0], of: "is_nan").double.isNaN)
    },
    Function("is_not_nan", 1) { values, _ throws(EvaluationError) in
      .boolean(!(try Number(values[0], of: "is_not_nan").double.isNaN))
    },
    Function("is_null", 1...1, anything: { values, _ in .boolean(isEqual(values[0], .null)) }),
    Function("is_not_null", 1...1, anything: { values, _ in .boolean(!isEqual(values[0], .null)) }),
  ]

  static func isEqual(_ left: Value?, _ right: Value?) -> Bool {
    guard let left, let right else { return false }
    return left.equalsNumerically(right)
  }

  /// The order of two values; `nil` if they have none: for different types, absent values, or a NaN and another number.
  private static func order(_ values: [Value?]) -> Ordering? {
    guard let left = values[0], let right = values[1], left.typeRank == right.typeRank else { return nil }
    if isNaN(left) != isNaN(right) { return nil }
    return left.compare(right, .byNumber)
  }

  private static func isNaN(_ value: Value) -> Bool {
    if case .double(let number) = value { number.isNaN } else { false }
  }

  /// Whether the first value is among the elements of the second; `nil` for a list that is null or absent.
  private static func isAny(_ values: [Value?], _ function: String) throws(EvaluationError) -> Bool? {
    guard let list = values[1] else { return nil }
    if case .null = list { return nil }
    let elements = try list.elements(of: function)
    return elements.contains { isEqual(values[0], $0) }
  }

  /// The smallest or largest value, ignoring nulls. If the only argument is an array, its elements are compared.
  private static func extreme(_ values: [Value?], _ wanted: Ordering) -> Value {
    if values.count == 1, case .array(let elements)? = values[0] { return extreme(elements, wanted) ?? .null }
    return extreme(values.compactMap { $0 }, wanted) ?? .null
  }

  static func extreme(_ values: [Value], _ wanted: Ordering) -> Value? {
    var result: Value?
    for value in values {
      if case .null = value { continue }
      if let best = result, value.compare(best, .byNumber) != wanted { continue }
      result = value
    }
    return result
  }

  private static func extremes(
    _ values: [Value], _ function: String, _ wanted: Ordering
  ) throws(EvaluationError) -> Value {
    let count = try values[1].integer(of: function)
    guard count >= 0 else { throw EvaluationError("\(function)() does not accept a negative number.") }
    let elements = try values[0].elements(of: function).filter { if case .null = $0 { false } else { true } }
    let sorted = elements.enumerated().sorted { left, right in
      let order = left.element.compare(right.element, .byNumber)
      return order == .equal ? left.offset < right.offset : order == wanted
    }
    return .array(sorted.prefix(Int(clamping: count)).map(\.element))
  }
}
