// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// What can be read and listened to as a list of documents: a collection, a collection group, or either of them
/// filtered, ordered and limited.
///
/// A protocol where the official SDK has a class, so that a collection is a query and both are values that the
/// compiler knows to be `Sendable`. A query that Firestore would refuse is a value like any other; every call on it
/// fails with `invalidArgument` and says what is wrong.
public protocol Query: Sendable {
  /// What it asks for, as a value that can be an element of a `Set` or a key.
  var definition: QueryDefinition { get }
}

/// What a query asks for: any query as a `Hashable` value, and a query itself.
public struct QueryDefinition: Query {
  /// The database that is asked.
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
  /// Whether both ask the same of the same database.
  public static func == (left: QueryDefinition, right: QueryDefinition) -> Bool {
    left.firestore === right.firestore && left.query == right.query
  }

  /// By what is asked for, not by the database.
  public func hash(into hasher: inout Hasher) { hasher.combine(query) }
}

extension Query {
  /// The database that is asked.
  public var firestore: Firestore { definition.firestore }

  /// The query with a change, unless it is already wrong or the change is.
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
  func validated() throws(FirestoreError) -> FirestoreQuery.Query {
    let query = try definition.query.get()
    do {
      try query.validate()
    } catch {
      throw FirestoreError(FirestoreError.Code(error.code), error.message)
    }
    return query
  }
}

/// Whether both ask the same of the same database.
public func == (left: any Query, right: any Query) -> Bool {
  left.definition == right.definition
}

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

extension Query {
  /// Ascending; documents without the field are left out.
  public func order(by field: some FieldName) -> any Query { order(by: field, descending: false) }

  /// Documents without the field are left out. Further orderings break ties; document ids break the last ones.
  public func order(by field: some FieldName, descending: Bool) -> any Query {
    refined { query throws(FirestoreError) in
      if query.start != nil || query.end != nil {
        throw .invalidArgument(
          "order(by:) must come before the cursors start(at:), start(after:), end(at:) and end(before:).")
      }
      query.explicitOrderBy.append(OrderBy(try field.modelPath(), descending ? .descending : .ascending))
    }
  }

  /// The first documents only.
  /// - Parameter limit: at least 1, and at most 2 147 483 647.
  public func limit(to limit: Int) -> any Query { limited(to: limit, .first) }

  /// The last documents only, in the query's order. Needs an `order(by:)`.
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
