// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Stands in a write for a value that the backend works out, or for the removal of a field.
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

  /// Removes the field. For `updateData` (at the top level) and merging `setData` only.
  public static func delete() -> FieldValue { FieldValue(kind: .delete) }

  /// Sets the field to the time at which the backend commits the write.
  public static func serverTimestamp() -> FieldValue { FieldValue(kind: .serverTimestamp) }

  /// Appends the elements that the array does not hold yet; a field that is no array becomes one.
  public static func arrayUnion(_ elements: [Any]) -> FieldValue {
    FieldValue(kind: .arrayUnion(elements.map(ValueEncoder.element)))
  }

  /// Removes every occurrence of the elements; a field that is no array becomes an empty one.
  public static func arrayRemove(_ elements: [Any]) -> FieldValue {
    FieldValue(kind: .arrayRemove(elements.map(ValueEncoder.element)))
  }

  /// Adds to the number in the field; integers stop at their limits. A field that is no number becomes the operand.
  public static func increment(_ operand: Int64) -> FieldValue { FieldValue(kind: .increment(.integer(operand))) }
  /// Adds to the number in the field; the result is a double.
  public static func increment(_ operand: Double) -> FieldValue { FieldValue(kind: .increment(.double(operand))) }

  /// Sets the field to the lesser of its number and the operand.
  public static func minimum(_ operand: Int64) -> FieldValue { FieldValue(kind: .minimum(.integer(operand))) }
  /// Sets the field to the lesser of its number and the operand; a smaller double replaces an integer.
  public static func minimum(_ operand: Double) -> FieldValue { FieldValue(kind: .minimum(.double(operand))) }

  /// Sets the field to the greater of its number and the operand.
  public static func maximum(_ operand: Int64) -> FieldValue { FieldValue(kind: .maximum(.integer(operand))) }
  /// Sets the field to the greater of its number and the operand; a larger double replaces an integer.
  public static func maximum(_ operand: Double) -> FieldValue { FieldValue(kind: .maximum(.double(operand))) }

  /// A vector of doubles, which is a type of its own and no array.
  public static func vector(_ array: [Double]) -> VectorValue { VectorValue(array) }
  /// A vector of the numbers, stored as doubles.
  public static func vector(_ array: [Float]) -> VectorValue { VectorValue(array) }
}

extension FieldValue {
  /// The transform of a sentinel other than `delete()`.
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

/// The value that a server timestamp reads as until the backend has set it.
public enum ServerTimestampBehavior: Hashable, Sendable {
  /// `NSNull`.
  case none
  /// This device's time of the write.
  case estimate
  /// The value that the field held before; `NSNull` if it held none.
  case previous
}
