// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// A figure that a query's documents are reduced to.
public struct AggregateField: Hashable, Sendable {
  private enum Kind: Hashable {
    case count
    case sum(Result<FieldPath, FirestoreError>)
    case average(Result<FieldPath, FirestoreError>)
  }

  private let kind: Kind

  /// How many documents there are.
  public static func count() -> AggregateField { AggregateField(kind: .count) }

  /// The sum of the field's numbers; 0 if there are none. An integer unless one of them is a double or the sum is too
  /// large for 64 bits. Leaves documents out that lack the field.
  public static func sum(_ field: some FieldName) -> AggregateField { AggregateField(kind: .sum(field.fieldPath)) }

  /// The mean of the field's numbers as a double; `NSNull` if there are none. Leaves documents out that lack the field.
  public static func average(_ field: some FieldName) -> AggregateField {
    AggregateField(kind: .average(field.fieldPath))
  }

  /// - Throws: what is wrong with the field's name.
  func function() throws(FirestoreError) -> Aggregation.Function {
    switch kind {
    case .count: .count
    case .sum(let field): .sum(try Self.path(field))
    case .average(let field): .average(try Self.path(field))
    }
  }

  private static func path(
    _ field: Result<FieldPath, FirestoreError>
  ) throws(FirestoreError) -> FirestoreModel.FieldPath {
    let path = try field.get().modelPath()
    if path.isDocumentID {
      throw .invalidArgument("FieldPath.documentID() cannot be summed or averaged; name a field with numbers.")
    }
    return path
  }
}
