// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreQuery

/// A list of documents that can be read and listened to: a collection, a collection group, or either of them filtered,
/// ordered and limited.
///
/// The official SDK has a class here. A protocol lets a collection be a query, and both be values that the compiler
/// knows to be `Sendable`. A query that Firestore would refuse is a value like any other; every call on it fails with
/// `invalidArgument` and names the mistake.
public protocol Query: Sendable {
  /// The query as a value that can be an element of a `Set` or a key.
  var definition: QueryDefinition { get }
}

/// The definition of any query as a `Hashable` value, and a query itself.
public struct QueryDefinition: Query {
  /// The database that the query reads.
  public let firestore: Firestore
  let query: Result<FirestoreQuery.Query, FirestoreError>

  init(firestore: Firestore, query: Result<FirestoreQuery.Query, FirestoreError>) {
    self.firestore = firestore
    self.query = query
  }

  init(firestore: Firestore, collectionGroup: String) {
    self.init(
      firestore: firestore,
      query: ReferencePath.collectionID(collectionGroup).map { FirestoreQuery.Query(path: .root, collectionGroup: $0) })
  }

  /// The value itself.
  public var definition: QueryDefinition { self }
}

extension QueryDefinition: Hashable {
  /// Whether both are the same query of the same database.
  public static func == (left: QueryDefinition, right: QueryDefinition) -> Bool {
    left.firestore === right.firestore && left.query == right.query
  }

  /// Hashes the query, without the database.
  public func hash(into hasher: inout Hasher) { hasher.combine(query) }
}

extension Query {
  /// The database that the query reads.
  public var firestore: Firestore { definition.firestore }

  /// The query with a change, or the error in the query or in the change.
  func refined(
    _ change: (inout FirestoreQuery.Query) throws(FirestoreError) -> Void
  ) -> any Query {
    let result = definition.query.flatMap { query in
      Result { () throws(FirestoreError) in
        var query = query
        try change(&query)
        return query
      }
    }
    return QueryDefinition(firestore: firestore, query: result)
  }

  /// The query for the core, checked as a whole.
  package func validated() throws(FirestoreError) -> FirestoreQuery.Query {
    let query = try definition.query.get()
    do {
      try query.validate()
    } catch {
      throw FirestoreError(FirestoreError.Code(error.code), error.message)
    }
    return query
  }
}

/// Whether both are the same query of the same database.
public func == (left: any Query, right: any Query) -> Bool {
  left.definition == right.definition
}

extension Query {
  /// Keeps only documents for which the filter holds; several filters must all hold.
  public func whereFilter(_ filter: Filter) -> any Query {
    refined { query throws(FirestoreError) in
      query.filters.append(try filter.node.get().resolved(for: query, in: firestore))
    }
  }

  /// Keeps only documents whose field equals the value.
  public func whereField(_ field: some FieldName, isEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isEqualTo: value))
  }
  /// Keeps only documents whose field differs from the value. Documents without the field do not match.
  public func whereField(_ field: some FieldName, isNotEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isNotEqualTo: value))
  }
  /// Keeps only documents whose field is less than the value, of the same type.
  public func whereField(_ field: some FieldName, isLessThan value: Any) -> any Query {
    whereFilter(.whereField(field, isLessThan: value))
  }
  /// Keeps only documents whose field is the value or less, of the same type.
  public func whereField(_ field: some FieldName, isLessThanOrEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isLessThanOrEqualTo: value))
  }
  /// Keeps only documents whose field is greater than the value, of the same type.
  public func whereField(_ field: some FieldName, isGreaterThan value: Any) -> any Query {
    whereFilter(.whereField(field, isGreaterThan: value))
  }
  /// Keeps only documents whose field is the value or greater, of the same type.
  public func whereField(_ field: some FieldName, isGreaterThanOrEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isGreaterThanOrEqualTo: value))
  }
  /// Keeps only documents whose field is an array with the value.
  public func whereField(_ field: some FieldName, arrayContains value: Any) -> any Query {
    whereFilter(.whereField(field, arrayContains: value))
  }
  /// Keeps only documents whose field is an array with one of the values, of which there are at most 30.
  public func whereField(_ field: some FieldName, arrayContainsAny values: [Any]) -> any Query {
    whereFilter(.whereField(field, arrayContainsAny: values))
  }
  /// Keeps only documents whose field is one of the values, of which there are at most 30.
  public func whereField(_ field: some FieldName, in values: [Any]) -> any Query {
    whereFilter(.whereField(field, in: values))
  }
  /// Keeps only documents whose field is none of the values. Documents without the field do not match.
  public func whereField(_ field: some FieldName, notIn values: [Any]) -> any Query {
    whereFilter(.whereField(field, notIn: values))
  }
}

extension Query {
  /// Orders by a field, ascending; documents without the field are left out.
  public func order(by field: some FieldName) -> any Query { order(by: field, descending: false) }

  /// Orders by a field; documents without it are left out. Further orderings break ties; document ids break the last
  /// ones.
  public func order(by field: some FieldName, descending: Bool) -> any Query {
    refined { query throws(FirestoreError) in
      if query.start != nil || query.end != nil {
        throw .invalidArgument(
          "order(by:) must come before the cursors start(at:), start(after:), end(at:) and end(before:).")
      }
      query.explicitOrderBy.append(OrderBy(try field.modelPath(), descending ? .descending : .ascending))
    }
  }

  /// Keeps the first documents only.
  /// - Parameter limit: at least 1, and at most 2 147 483 647.
  public func limit(to limit: Int) -> any Query { limited(to: limit, .first) }

  /// Keeps the last documents only, in the query's order. Needs an `order(by:)`.
  /// - Parameter limit: at least 1, and at most 2 147 483 647.
  public func limit(toLast limit: Int) -> any Query { limited(to: limit, .last) }

  private func limited(to limit: Int, _ type: FirestoreQuery.Query.LimitType) -> any Query {
    refined { query throws(FirestoreError) in
      guard limit > 0 else { throw .invalidArgument("A query's limit must be positive, not \(limit).") }
      guard limit <= FirestoreQuery.Query.maximumLimit else {
        throw .invalidArgument("A query's limit can be at most \(FirestoreQuery.Query.maximumLimit), not \(limit).")
      }
      query.limit = limit
      query.limitType = type
    }
  }
}
