// SPDX-License-Identifier: Apache-2.0
import FirestoreQuery

extension Query {
  /// Only documents for which the filter holds; several filters must all hold.
  public func whereFilter(_ filter: Filter) -> any Query {
    refined { query throws(FirestoreError) in
      query.filters.append(try filter.node.get().resolved(for: query, in: firestore))
    }
  }

  /// Only documents whose field equals the value.
  public func whereField(_ field: some FieldName, isEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isEqualTo: value))
  }
  /// Documents without the field do not match.
  public func whereField(_ field: some FieldName, isNotEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isNotEqualTo: value))
  }
  /// Only documents whose field is less than the value, of the same type.
  public func whereField(_ field: some FieldName, isLessThan value: Any) -> any Query {
    whereFilter(.whereField(field, isLessThan: value))
  }
  /// Only documents whose field is the value or less, of the same type.
  public func whereField(_ field: some FieldName, isLessThanOrEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isLessThanOrEqualTo: value))
  }
  /// Only documents whose field is greater than the value, of the same type.
  public func whereField(_ field: some FieldName, isGreaterThan value: Any) -> any Query {
    whereFilter(.whereField(field, isGreaterThan: value))
  }
  /// Only documents whose field is the value or greater, of the same type.
  public func whereField(_ field: some FieldName, isGreaterThanOrEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isGreaterThanOrEqualTo: value))
  }
  /// Only documents whose field is an array with the value.
  public func whereField(_ field: some FieldName, arrayContains value: Any) -> any Query {
    whereFilter(.whereField(field, arrayContains: value))
  }
  /// Only documents whose field is an array with one of the values, of which there are at most 30.
  public func whereField(_ field: some FieldName, arrayContainsAny values: [Any]) -> any Query {
    whereFilter(.whereField(field, arrayContainsAny: values))
  }
  /// Only documents whose field is one of the values, of which there are at most 30.
  public func whereField(_ field: some FieldName, in values: [Any]) -> any Query {
    whereFilter(.whereField(field, in: values))
  }
  /// Documents without the field do not match.
  public func whereField(_ field: some FieldName, notIn values: [Any]) -> any Query {
    whereFilter(.whereField(field, notIn: values))
  }
}
