// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension Evaluator {
  func negation(of value: RuleValue) throws(RuleFailure) -> RuleValue {
    guard case .bool(let isTrue) = value else {
      throw .operation(received: "!\(value.typeName)", expected: ["!bool"])
    }
    return .bool(!isTrue)
  }

  mutating func negative(_ value: RuleValue) throws(RuleFailure) -> RuleValue {
    switch value {
    case .oneOf(let candidates):
      return try each(candidates) { evaluator, candidate throws(RuleFailure) in try evaluator.negative(candidate) }
    case .int(let number):
      guard number != .min else { throw .integerRange }
      return .int(-number)
    case .float(let number): return .float(-number)
    case .duration(let duration):
      if let negative = RuleDuration(seconds: -duration.seconds, nanoseconds: -duration.nanoseconds) {
        return .duration(negative)
      }
    default: break
    }
    throw .operation(received: "-\(value.typeName)", expected: ["-int", "-float", "-duration"])
  }

  func isType(_ value: RuleValue, _ type: RuleType) throws(RuleFailure) -> RuleValue {
    switch value {
    // A field with a constraint can have values of several types.
    case .constraint where type != .constraint: throw .notKnown
    case .oneOf(let candidates):
      let isOfType = candidates[0].isType(type)
      if candidates.contains(where: { $0.isType(type) != isOfType }) { throw .notKnown }
      return .bool(isOfType)
    default: return .bool(value.isType(type))
    }
  }

  mutating func operation(_ sign: BinaryOperator, _ left: RuleValue, _ right: RuleValue) throws(RuleFailure)
    -> RuleValue
  {
    if let result = try simpleResult(sign, left, right) { return .bool(result) }
    if case .oneOf(let candidates) = left {
      return try each(candidates) { evaluator, left throws(RuleFailure) in try evaluator.operation(sign, left, right) }
    }
    if case .oneOf(let candidates) = right {
      return try each(candidates) { evaluator, right throws(RuleFailure) in try evaluator.operation(sign, left, right) }
    }
    switch sign {
    case .equal: return try .bool(areEqual(left, right))
    case .notEqual: return try .bool(areUnequal(left, right))
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return try .bool(compare(sign, left, right))
    case .in: return try .bool(contains(right, left))
    case .plus: return try sum(left, right)
    case .minus: return try difference(left, right)
    case .times:
      return try arithmetic(sign, left, right, { $0.multipliedReportingOverflow(by: $1) }, { $0 * $1 })
    case .divided:
      // Dividing the smallest integer by -1 wraps, as in Java.
      return try arithmetic(
        sign, left, right, { $1 == -1 ? (0 &- $0, false) : ($0 / $1, false) }, { $0 / $1 })
    case .remainder:
      return try arithmetic(
        sign, left, right, { $1 == -1 ? (0, false) : ($0 % $1, false) }, { $0.truncatingRemainder(dividingBy: $1) })
    }
  }

  /// The fast path for the comparisons that most rules use.
  /// - Returns: `nil` for other comparisons.
  private mutating func simpleResult(
    _ sign: BinaryOperator, _ left: RuleValue, _ right: RuleValue
  ) throws(RuleFailure) -> Bool? {
    switch (left, right) {
    case (.string(let left), .string(let right)):
      guard sign == .equal || sign == .notEqual else { return nil }
      try work(1 + min(left.utf8.count, right.utf8.count) / 16)
      return left.equalsUTF8(right) == (sign == .equal)
    case (.int(let left), .int(let right)):
      switch sign {
      case .equal: return left == right
      case .notEqual: return left != right
      case .less: return left < right
      case .lessOrEqual: return left <= right
      case .greater: return left > right
      case .greaterOrEqual: return left >= right
      case .in, .plus, .minus, .times, .divided, .remainder: return nil
      }
    case (.map, .null), (.string, .null):
      return sign == .equal ? false : sign == .notEqual ? true : nil
    default: return nil
    }
  }

  private func unsupported(_ sign: BinaryOperator, _ left: RuleValue, _ right: RuleValue) -> RuleFailure {
    let types =
      switch sign {
      case .plus:
        [
          "int + int", "float + float", "string + string", "duration + duration", "duration + timestamp",
          "timestamp + duration",
        ]
      case .minus:
        ["int - int", "float - float", "duration - duration", "timestamp - duration", "timestamp - timestamp"]
      case .times, .divided, .remainder: ["int \(sign.rawValue) int", "float \(sign.rawValue) float"]
      default:
        ["string", "bytes", "int", "float", "duration", "timestamp"].map { "\($0) \(sign.rawValue) \($0)" }
          + ["constraint \(sign.rawValue) any", "any \(sign.rawValue) constraint"]
      }
    return .operation(received: "\(left.typeName) \(sign.rawValue) \(right.typeName)", expected: types)
  }

  private func arithmetic(
    _ sign: BinaryOperator, _ left: RuleValue, _ right: RuleValue,
    _ integers: (Int64, Int64) -> (partialValue: Int64, overflow: Bool), _ floats: (Double, Double) -> Double
  ) throws(RuleFailure) -> RuleValue {
    switch (left, right) {
    case (.int(let left), .int(let right)):
      if right == 0, sign == .divided || sign == .remainder { throw .divisionByZero }
      let (result, overflows) = integers(left, right)
      if overflows { throw .integerRange }
      return .int(result)
    case (.int(let left), .float(let right)): return .float(floats(Double(left), right))
    case (.float(let left), .int(let right)): return .float(floats(left, Double(right)))
    case (.float(let left), .float(let right)): return .float(floats(left, right))
    default: throw unsupported(sign, left, right)
    }
  }

  private mutating func sum(_ left: RuleValue, _ right: RuleValue) throws(RuleFailure) -> RuleValue {
    switch (left, right) {
    case (.string(let left), .string(let right)):
      try work(left.utf8.count + right.utf8.count)
      return .string(left + right)
    case (.duration(let left), .duration(let right)):
      return try duration(left.seconds + right.seconds, left.nanoseconds + right.nanoseconds)
    case (.duration(let span), .timestamp(let time)), (.timestamp(let time), .duration(let span)):
      return try timestamp(time.seconds + span.seconds, Int64(time.nanoseconds) + span.nanoseconds)
    default: return try arithmetic(.plus, left, right, { $0.addingReportingOverflow($1) }, { $0 + $1 })
    }
  }

  private func difference(_ left: RuleValue, _ right: RuleValue) throws(RuleFailure) -> RuleValue {
    switch (left, right) {
    case (.duration(let left), .duration(let right)):
      return try duration(left.seconds - right.seconds, left.nanoseconds - right.nanoseconds)
    case (.timestamp(let time), .duration(let span)):
      return try timestamp(time.seconds - span.seconds, Int64(time.nanoseconds) - span.nanoseconds)
    case (.timestamp(let left), .timestamp(let right)):
      return try duration(left.seconds - right.seconds, Int64(left.nanoseconds) - Int64(right.nanoseconds))
    default: return try arithmetic(.minus, left, right, { $0.subtractingReportingOverflow($1) }, { $0 - $1 })
    }
  }

  func duration(_ seconds: Int64, _ nanoseconds: Int64) throws(RuleFailure) -> RuleValue {
    guard let duration = RuleDuration(seconds: seconds, nanoseconds: nanoseconds) else {
      throw .invalid("Duration is not valid: more than ten thousand years.")
    }
    return .duration(duration)
  }

  /// - Parameter nanoseconds: may be negative or more than a second.
  func timestamp(_ seconds: Int64, _ nanoseconds: Int64) throws(RuleFailure) -> RuleValue {
    var whole = nanoseconds / 1_000_000_000
    var rest = nanoseconds % 1_000_000_000
    if rest < 0 {
      rest += 1_000_000_000
      whole -= 1
    }
    let (sum, overflows) = seconds.addingReportingOverflow(whole)
    let time = Timestamp(seconds: sum, nanoseconds: Int32(rest))
    guard !overflows, time.isValid else { throw .invalid(Self.noTimestamp) }
    return .timestamp(time)
  }

  private mutating func compare(_ sign: BinaryOperator, _ left: RuleValue, _ right: RuleValue) throws(RuleFailure)
    -> Bool
  {
    if case .constraint(let constraint) = left { return try constraint.proves(sign, right) }
    if case .constraint(let constraint) = right { return try constraint.proves(sign.reversed, left) }
    guard let result = sign.holds(left, right) else { throw unsupported(sign, left, right) }
    return result
  }

  mutating func areEqual(_ left: RuleValue, _ right: RuleValue) throws(RuleFailure) -> Bool {
    if case .constraint(let constraint) = left { return try constraint.proves(.equal, right) }
    if case .constraint(let constraint) = right { return try constraint.proves(.equal, left) }
    if areOfDifferentTypes(left, right) { return false }
    try weigh(left, right)
    return left.isEqual(to: right)
  }

  private mutating func areUnequal(_ left: RuleValue, _ right: RuleValue) throws(RuleFailure) -> Bool {
    if case .constraint(let constraint) = left { return try constraint.proves(.notEqual, right) }
    if case .constraint(let constraint) = right { return try constraint.proves(.notEqual, left) }
    if areOfDifferentTypes(left, right) { return true }
    try weigh(left, right)
    return !left.isEqual(to: right)
  }

  /// Whether two values certainly have different types, even if parts of them are unknown.
  private func areOfDifferentTypes(_ left: RuleValue, _ right: RuleValue) -> Bool {
    isProof && (!left.isKnown || !right.isKnown) && left.typeName != right.typeName
  }

  /// Counts the work of comparing two values.
  /// - Throws: `notKnown` if parts of the values are unknown.
  mutating func weigh(_ left: RuleValue, _ right: RuleValue) throws(RuleFailure) {
    if isProof, !left.isKnown || !right.isKnown { throw .notKnown }
    try work(left.isScalar || right.isScalar ? 1 : min(left.weight, right.weight))
  }
}

extension BinaryOperator {
  /// The operator with swapped operands.
  var reversed: BinaryOperator {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: self
    }
  }

  /// Whether the comparison of two values is true; `nil` for types without an order. Every comparison with NaN is
  /// false.
  func holds(_ left: RuleValue, _ right: RuleValue) -> Bool? {
    switch (left, right) {
    case (.int(let left), .int(let right)): holds(Ordering(left, right))
    case (.int(let left), .float(let right)): holds(Double(left), right)
    case (.float(let left), .int(let right)): holds(left, Double(right))
    case (.float(let left), .float(let right)): holds(left, right)
    case (.string(let left), .string(let right)): holds(left.compareUTF8(right))
    case (.bytes(let left), .bytes(let right)):
      holds(Value.bytes(left).compare(.bytes(right)))
    case (.timestamp(let left), .timestamp(let right)): holds(Ordering(left, right))
    case (.duration(let left), .duration(let right)): holds(Ordering(left, right))
    default: nil
    }
  }

  private func holds(_ left: Double, _ right: Double) -> Bool {
    left.isNaN || right.isNaN ? false : holds(Ordering(left, right))
  }

  func holds(_ order: Ordering) -> Bool {
    switch self {
    case .less: order == .ascending
    case .lessOrEqual: order != .descending
    case .greater: order == .descending
    case .greaterOrEqual: order != .ascending
    case .equal: order == .equal
    case .notEqual: order != .equal
    case .in, .plus, .minus, .times, .divided, .remainder: false
    }
  }
}

extension RuleValue {
  /// The number of steps that reading the whole value counts as.
  var weight: Int {
    switch self {
    case .null, .bool, .int, .float, .timestamp, .duration, .latlng, .constraint, .oneOf: 1
    case .string(let text): 1 + text.utf8.count / 16
    case .bytes(let bytes): 1 + bytes.count / 16
    case .path(let path): path.segments.count
    case .vector(let values): values.count
    case .list(let values): values.reduce(1) { $0 + $1.weight }
    case .set(let set): 1 + 4 * set.elements.count
    case .map(.fields(let fields)): 1 + fields.byteSize / 8
    case .map(.document(let document)), .map(.data(let document)): 1 + document.fields.byteSize / 8
    case .map(.entries(let entries)), .map(.known(let entries)), .map(.view(let entries, _)):
      entries.sorted.reduce(1) { $0 + 1 + $1.value.weight }
    case .map(.user(let user)): 1 + user.claims.byteSize / 8
    case .mapDiff(let diff): diff.added.count + diff.removed.count + diff.changed.count + diff.unchanged.count
    }
  }

  /// Whether all values of its type have the same weight.
  fileprivate var isScalar: Bool {
    switch self {
    case .null, .bool, .int, .float, .timestamp, .duration, .latlng, .constraint, .oneOf: true
    case .string, .bytes, .path, .vector, .list, .set, .map, .mapDiff: false
    }
  }

  /// Whether all parts of the value are known.
  var isKnown: Bool {
    switch self {
    case .constraint, .oneOf: false
    case .map(.known): false
    case .list(let values): values.allSatisfy(\.isKnown)
    case .map(.entries(let entries)), .map(.view(let entries, _)): entries.sorted.allSatisfy(\.value.isKnown)
    default: true
    }
  }
}
