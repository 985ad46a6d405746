// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension FieldTransform {
  /// Applies the transform with the backend's semantics (PROTOCOL §3.2); maps on the way to the field are made.
  /// - Parameter serverTime: what a server timestamp becomes.
  /// - Returns: the field's new value, or `null` for array transforms.
  func apply(to fields: inout Fields, at serverTime: Timestamp) throws(BackendError) -> Value {
    let stored = fields[path]
    switch operation {
    case .serverTimestamp:
      fields[path] = .timestamp(serverTime)
      return .timestamp(serverTime)
    case .increment(let operand):
      return set(try number(operand).adding(to: stored), in: &fields)
    case .minimum(let operand):
      return set(try number(operand).extreme(with: stored, preferring: .ascending), in: &fields)
    case .maximum(let operand):
      return set(try number(operand).extreme(with: stored, preferring: .descending), in: &fields)
    case .arrayUnion, .arrayRemove:
      fields[path] = .array(operation.backendElements(previous: stored) ?? [])
      return .null
    }
  }

  private func set(_ value: Value, in fields: inout Fields) -> Value {
    fields[path] = value
    return value
  }

  private func number(_ value: Value) throws(BackendError) -> Value {
    guard value.isNumber else { throw .refused(.invalidArgument, "Input must be int64 or double.") }
    return value
  }
}

extension Value {
  var isNumber: Bool {
    switch self {
    case .integer, .double: true
    default: false
    }
  }

  fileprivate var isNaN: Bool { if case .double(let value) = self { value.isNaN } else { false } }

  private var asDouble: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  /// Integers saturate; with a double the sum is IEEE; what is no number is replaced.
  fileprivate func adding(to stored: Value?) -> Value {
    if case .integer(let old)? = stored, case .integer(let operand) = self {
      let (sum, overflows) = old.addingReportingOverflow(operand)
      return .integer(overflows ? (operand < 0 ? .min : .max) : sum)
    }
    guard let old = stored?.asDouble, let operand = asDouble else { return self }
    return .double(old + operand)
  }

  /// The smaller or greater of two numbers; equal ones keep the stored value and its type, NaN wins always.
  fileprivate func extreme(with stored: Value?, preferring side: Ordering) -> Value {
    guard let stored, stored.isNumber else { return self }
    if stored.isNaN { return stored }
    if isNaN { return self }
    return compare(stored) == side ? self : stored
  }
}
