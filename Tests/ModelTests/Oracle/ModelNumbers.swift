// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Arithmetic of transforms (PROTOCOL §3.2).
enum ModelNumbers {
  /// Integers saturate; a double makes the sum a double; onto what is no number the operand is put.
  static func sum(_ old: Value?, _ operand: Value) -> Value {
    switch (old, operand) {
    case (.integer(let left)?, .integer(let right)):
      if right > 0, left > Int64.max - right { return .integer(.max) }
      if right < 0, left < Int64.min - right { return .integer(.min) }
      return .integer(left + right)
    case (.integer(let left)?, .double(let right)): return .double(Double(left) + right)
    case (.double(let left)?, .integer(let right)): return .double(left + Double(right))
    case (.double(let left)?, .double(let right)): return .double(left + right)
    default: return operand
    }
  }

  /// Numbers that are equal keep the stored one with its type; NaN on either side wins.
  static func extreme(_ old: Value?, _ operand: Value, prefersLess: Bool) -> Value {
    guard let old, isNumber(old) else { return operand }
    if isNaN(old) || isNaN(operand) { return .double(.nan) }
    let takesOperand = prefersLess ? isLess(operand, old) : isLess(old, operand)
    return takesOperand ? operand : old
  }

  /// Numbers by their value, NaN being equal to itself, and everything else by what it is.
  static func areNumericallyEqual(_ left: Value, _ right: Value) -> Bool {
    if isNumber(left), isNumber(right) {
      return isNaN(left) == isNaN(right) && !isLess(left, right) && !isLess(right, left)
    }
    return left == right
  }

  private static func isNumber(_ value: Value) -> Bool {
    switch value {
    case .integer, .double: true
    default: false
    }
  }

  private static func isNaN(_ value: Value) -> Bool {
    if case .double(let value) = value { value.isNaN } else { false }
  }

  private static func isLess(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left < right
    case (.double(let left), .double(let right)): left < right
    case (.integer(let left), .double(let right)): order(left, right) < 0
    case (.double(let left), .integer(let right)): order(right, left) > 0
    default: false
    }
  }

  /// Compares exactly: a conversion of either would round.
  private static func order(_ left: Int64, _ right: Double) -> Int {
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let floor = right.rounded(.down)
    let whole = Int64(floor)
    if left == whole { return right > floor ? -1 : 0 }
    return left < whole ? -1 : 1
  }
}
