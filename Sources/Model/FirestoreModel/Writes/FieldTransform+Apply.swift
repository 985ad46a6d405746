// SPDX-License-Identifier: Apache-2.0

extension FieldTransform.Operation {
  /// The transform's result on this device until the backend responds. Array elements are compared by strict equality.
  package func localResult(previous: Value?, at localWriteTime: Timestamp) -> Value {
    switch self {
    case .serverTimestamp:
      var previous = previous
      if case .serverTimestamp(let unresolved)? = previous { previous = unresolved.previous }
      return .serverTimestamp(ServerTimestamp(localWriteTime: localWriteTime, previous: previous))
    default:
      return result(previous: previous, .strict)
    }
  }

  /// The transform's result on the backend, which compares array elements by numeric equality (PROTOCOL §3.2).
  /// - Parameter time: the time of the request, which `serverTimestamp` uses.
  package func backendResult(previous: Value?, at time: Timestamp) -> Value {
    if case .serverTimestamp = self { return .timestamp(time) }
    return result(previous: previous, .numeric)
  }

  private func result(previous: Value?, _ equality: ValueSet.Equality) -> Value {
    switch self {
    case .serverTimestamp: .null
    case .increment(let operand): Value.sum(previous, operand)
    case .minimum(let operand): Value.extreme(previous, operand, keeping: .ascending)
    case .maximum(let operand): Value.extreme(previous, operand, keeping: .descending)
    case .arrayUnion(let elements):
      .array(Self.union(previous?.arrayElements ?? [], elements, equality))
    case .arrayRemove(let elements):
      .array(Self.difference(previous?.arrayElements ?? [], elements, equality))
    }
  }

  /// Whether applying the operation twice gives the same result as applying it once.
  package var isIdempotent: Bool {
    if case .increment = self { false } else { true }
  }
}

extension Value {
  package var isNumber: Bool {
    switch self {
    case .integer, .double: true
    default: false
    }
  }

  var arrayElements: [Value]? {
    if case .array(let values) = self { values } else { nil }
  }

  fileprivate var doubleValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  /// The sum of two numbers. Integers saturate. If one of the numbers is a double, the sum is a double. A previous
  /// value that is not a number is ignored.
  fileprivate static func sum(_ previous: Value?, _ operand: Value) -> Value {
    if case .integer(let left)? = previous, case .integer(let right) = operand {
      let (sum, overflow) = left.addingReportingOverflow(right)
      return .integer(overflow ? (right < 0 ? .min : .max) : sum)
    }
    guard let left = previous?.doubleValue, let right = operand.doubleValue else { return operand }
    return .double(left + right)
  }

  /// The smaller of two numbers for `.ascending`, and otherwise the larger one. If the numbers compare as equal, the
  /// result is the stored number. If one of them is NaN, the result is NaN.
  fileprivate static func extreme(_ previous: Value?, _ operand: Value, keeping order: Ordering) -> Value {
    guard let previous, let left = previous.doubleValue, let right = operand.doubleValue else { return operand }
    if left.isNaN || right.isNaN { return .double(.nan) }
    return operand.compare(previous) == order ? operand : previous
  }
}

/// A set of values, compared in the way that array transforms require. A lookup does not compare the value with every
/// value in the set.
struct ValueSet {
  /// Determines how values are compared.
  enum Equality {
    /// Strict equality, which the client uses.
    case strict
    /// Numeric equality, which the backend uses. Numbers are compared by value at any depth (PROTOCOL §3.2).
    case numeric
  }

  private enum Content {
    case strict(Set<Value>)
    /// Encodings of the values. Two encodings are equal if the values compare as equal in the total order.
    case numeric(Set<[UInt8]>)
  }

  private var content: Content

  init(_ values: [Value] = [], _ equality: Equality) {
    content =
      switch equality {
      case .strict: .strict(Set(values))
      case .numeric: .numeric(Set(values.map(Self.key)))
      }
  }

  func contains(_ value: Value) -> Bool {
    switch content {
    case .strict(let values): values.contains(value)
    case .numeric(let keys): keys.contains(Self.key(value))
    }
  }

  /// Adds a value.
  /// - Returns: whether the value was new.
  mutating func insert(_ value: Value) -> Bool {
    switch content {
    case .strict(var values):
      content = .numeric([])
      defer { content = .strict(values) }
      return values.insert(value).inserted
    case .numeric(var keys):
      content = .strict([])
      defer { content = .numeric(keys) }
      return keys.insert(Self.key(value)).inserted
    }
  }

  private static func key(_ value: Value) -> [UInt8] {
    var code = OrderedCode()
    code.append(value)
    return code.bytes
  }
}

extension FieldTransform.Operation {
  /// The elements, followed by the operands that are not among them. Each such operand is added only once.
  static func union(_ elements: [Value], _ operands: [Value], _ equality: ValueSet.Equality) -> [Value] {
    var present = ValueSet(elements, equality)
    return elements + operands.filter { present.insert($0) }
  }

  /// The elements that are not among the operands.
  static func difference(_ elements: [Value], _ operands: [Value], _ equality: ValueSet.Equality) -> [Value] {
    let unwanted = ValueSet(operands, equality)
    return elements.filter { !unwanted.contains($0) }
  }
}
