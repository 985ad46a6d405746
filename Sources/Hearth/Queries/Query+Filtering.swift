// SPDX-License-Identifier: Apache-2.0
import FirestoreQuery

extension Query {
  /// Only documents for which the filter holds; several filters must all hold.
  public func whereFilter(_ filter: Filter) -> any Query {
    refined { query throws(FirestoreError) in
      query.filters.append(try filter.node.get().resolved(for: query, in: firestore))
    }
  }

  public func whereField(_ field: some FieldName, isEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isEqualTo: value))
  }
  /// Documents without the field do not match.
  public func whereField(_ field: some FieldName, isNotEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isNotEqualTo: value))
  }
  public func whereField(_ field: some FieldName, isLessThan value: Any) -> any Query {
    whereFilter(.whereField(field, isLessThan: value))
  }
  public func whereField(_ field: some FieldName, isLessThanOrEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isLessThanOrEqualTo: value))
  }
  public func whereField(_ field: some FieldName, isGreaterThan value: Any) -> any Query {
    whereFilter(.whereField(field, isGreaterThan: value))
  }
  public func whereField(_ field: some FieldName, isGreaterThanOrEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isGreaterThanOrEqualTo: value))
  }
  public func whereField(_ field: some FieldName, arrayContains value: Any) -> any Query {
    whereFilter(.whereField(field, arrayContains: value))
  }
  public func whereField(_ field: some FieldName, arrayContainsAny values: [Any]) -> any Query {
    whereFilter(.whereField(field, arrayContainsAny: values))
  }
  public func whereField(_ field: some FieldName, in values: [Any]) -> any Query {
    whereFilter(.whereField(field, in: values))
  }
  /// Documents without the field do not match.
  public func whereField(_ field: some FieldName, notIn values: [Any]) -> any Query {
    whereFilter(.whereField(field, notIn: values))
  }
}
