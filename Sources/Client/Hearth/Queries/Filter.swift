// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// A condition on documents: one comparison, or several filters combined with AND or OR.
public struct Filter: Hashable, Sendable {
  indirect enum Node: Hashable {
    case comparison(FirestoreModel.FieldPath, FieldFilter.Operator, Value)
    case and([Node])
    case or([Node])
  }

  let node: Result<Node, FirestoreError>

  private init(_ field: some FieldName, _ op: FieldFilter.Operator, _ value: Any) {
    node = Result { () throws(FirestoreError) in
      .comparison(try field.modelPath(), op, try ValueEncoder.plain(value))
    }
  }

  private init(_ filters: [Filter], _ combined: ([Node]) -> Node) {
    node = Result { () throws(FirestoreError) in
      var nodes: [Node] = []
      for filter in filters { nodes.append(try filter.node.get()) }
      return combined(nodes)
    }
  }

  /// A filter for documents that satisfy all of the given filters.
  public static func andFilter(_ filters: [Filter]) -> Filter { Filter(filters, Node.and) }
  /// A filter for documents that satisfy at least one of the given filters.
  public static func orFilter(_ filters: [Filter]) -> Filter { Filter(filters, Node.or) }

  /// A filter for a field that equals the value.
  public static func whereField(_ field: some FieldName, isEqualTo value: Any) -> Filter {
    Filter(field, .equal, value)
  }
  /// A filter for a field that differs from the value. Documents without the field do not match.
  public static func whereField(_ field: some FieldName, isNotEqualTo value: Any) -> Filter {
    Filter(field, .notEqual, value)
  }
  /// A filter for a field that has the value's type and is less than the value.
  public static func whereField(_ field: some FieldName, isLessThan value: Any) -> Filter {
    Filter(field, .lessThan, value)
  }
  /// A filter for a field that has the value's type and is less than or equal to the value.
  public static func whereField(_ field: some FieldName, isLessThanOrEqualTo value: Any) -> Filter {
    Filter(field, .lessThanOrEqual, value)
  }
  /// A filter for a field that has the value's type and is greater than the value.
  public static func whereField(_ field: some FieldName, isGreaterThan value: Any) -> Filter {
    Filter(field, .greaterThan, value)
  }
  /// A filter for a field that has the value's type and is greater than or equal to the value.
  public static func whereField(_ field: some FieldName, isGreaterThanOrEqualTo value: Any) -> Filter {
    Filter(field, .greaterThanOrEqual, value)
  }
  /// A filter for an array field that contains the value.
  public static func whereField(_ field: some FieldName, arrayContains value: Any) -> Filter {
    Filter(field, .arrayContains, value)
  }
  /// A filter for an array field that contains at least one of the values. At most 30 values are allowed.
  public static func whereField(_ field: some FieldName, arrayContainsAny values: [Any]) -> Filter {
    Filter(field, .arrayContainsAny, values)
  }
  /// A filter for a field that equals one of the values. At most 30 values are allowed.
  public static func whereField(_ field: some FieldName, in values: [Any]) -> Filter {
    Filter(field, .in, values)
  }
  /// A filter for a field that equals none of the values. Documents without the field do not match.
  public static func whereField(_ field: some FieldName, notIn values: [Any]) -> Filter {
    Filter(field, .notIn, values)
  }
}

extension Filter.Node {
  /// The filter as a given query needs it, with document ids converted to references.
  func resolved(
    for query: FirestoreQuery.Query, in firestore: Firestore
  ) throws(FirestoreError) -> FirestoreQuery.Filter {
    switch self {
    case .comparison(let path, let op, let value) where path.isDocumentID:
      let names = DocumentNames(firestore: firestore, query: query)
      return .field(FieldFilter(path, op, try names.operand(value, of: op)))
    case .comparison(let path, let op, let value): return .field(FieldFilter(path, op, value))
    case .and(let nodes): return .and(try Self.resolve(nodes, for: query, in: firestore))
    case .or(let nodes): return .or(try Self.resolve(nodes, for: query, in: firestore))
    }
  }

  private static func resolve(
    _ nodes: [Filter.Node], for query: FirestoreQuery.Query, in firestore: Firestore
  ) throws(FirestoreError) -> [FirestoreQuery.Filter] {
    var filters: [FirestoreQuery.Filter] = []
    for node in nodes { filters.append(try node.resolved(for: query, in: firestore)) }
    return filters
  }
}
