// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A placeholder in a write. It stands for a value that the backend computes, or for the removal of a field.
public struct FieldValue: Hashable, Sendable {
  enum Kind: Hashable {
    case delete
    case serverTimestamp
    case arrayUnion([Result<Value, FirestoreError>])
    case arrayRemove([Result<Value, FirestoreError>])
    case increment(Value)
    case minimum(Value)
    case maximum(Value)
  }

  let kind: Kind

  /// Removes the field. Allowed in `setData` with merging, and in `updateData` as the value of a key. In `updateData`,
  /// it is not allowed inside a map.
  public static func delete() -> FieldValue { FieldValue(kind: .delete) }

  /// Sets the field to the time at which the backend commits the write.
  public static func serverTimestamp() -> FieldValue { FieldValue(kind: .serverTimestamp) }

  /// Appends those elements that the array does not contain yet. If the field is not an array, replaces it with an
  /// array of the elements.
  public static func arrayUnion(_ elements: [Any]) -> FieldValue {
    FieldValue(kind: .arrayUnion(elements.map(ValueEncoder.element)))
  }

  /// Removes every occurrence of the elements. If the field is not an array, replaces it with an empty array.
  public static func arrayRemove(_ elements: [Any]) -> FieldValue {
    FieldValue(kind: .arrayRemove(elements.map(ValueEncoder.element)))
  }

  /// Adds the operand to the number in the field. Integers saturate at their limits. If the field is not a number, sets
  /// it to the operand.
  public static func increment(_ operand: Int64) -> FieldValue { FieldValue(kind: .increment(.integer(operand))) }
  /// Adds the operand to the number in the field. The result is a double. If the field is not a number, sets it to the
  /// operand.
  public static func increment(_ operand: Double) -> FieldValue { FieldValue(kind: .increment(.double(operand))) }

  /// Sets the field to the lesser of its number and the operand.
  public static func minimum(_ operand: Int64) -> FieldValue { FieldValue(kind: .minimum(.integer(operand))) }
  /// Sets the field to the lesser of its number and the operand. A smaller double replaces an integer.
  public static func minimum(_ operand: Double) -> FieldValue { FieldValue(kind: .minimum(.double(operand))) }

  /// Sets the field to the greater of its number and the operand.
  public static func maximum(_ operand: Int64) -> FieldValue { FieldValue(kind: .maximum(.integer(operand))) }
  /// Sets the field to the greater of its number and the operand. A larger double replaces an integer.
  public static func maximum(_ operand: Double) -> FieldValue { FieldValue(kind: .maximum(.double(operand))) }

  /// A vector of doubles. A vector is a separate type and not an array.
  public static func vector(_ array: [Double]) -> VectorValue { VectorValue(array) }
  /// A vector created from floats, which are stored as doubles.
  public static func vector(_ array: [Float]) -> VectorValue { VectorValue(array) }
}

extension FieldValue {
  /// The transform for the placeholder; `nil` for `delete()`.
  func transform() throws(FirestoreError) -> FieldTransform.Operation? {
    switch kind {
    case .delete: return nil
    case .serverTimestamp: return .serverTimestamp
    case .increment(let operand): return .increment(operand)
    case .minimum(let operand): return .minimum(operand)
    case .maximum(let operand): return .maximum(operand)
    case .arrayUnion(let elements): return .arrayUnion(try Self.values(of: elements))
    case .arrayRemove(let elements): return .arrayRemove(try Self.values(of: elements))
    }
  }

  private static func values(of elements: [Result<Value, FirestoreError>]) throws(FirestoreError) -> [Value] {
    var values: [Value] = []
    for element in elements { values.append(try element.get()) }
    return values
  }
}

/// The value to show for a server timestamp until the backend has set it.
public enum ServerTimestampBehavior: Hashable, Sendable {
  /// The value is `NSNull`.
  case none
  /// The value is the time of the write by this device's clock.
  case estimate
  /// The value is the field's previous value, or `NSNull` if there was none.
  case previous
}
