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
  var definition: QueryDefinition { get }
}

/// What a query asks for.
public struct QueryDefinition: Sendable {
  let firestore: Firestore
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
}

/// A query that is more than a collection.
struct RefinedQuery: Query {
  let definition: QueryDefinition
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
    return RefinedQuery(definition: QueryDefinition(firestore: firestore, query: result))
  }

  /// The query for the core, checked as a whole.
  func validated() throws(FirestoreError) -> FirestoreQuery.Query {
    let query = try definition.query.get()
    do {
      try query.validate()
    } catch {
      throw FirestoreError(FirestoreErrorCode(error.code), error.message)
    }
    return query
  }
}

/// Whether both ask the same of the same database.
public func == (left: any Query, right: any Query) -> Bool {
  left.firestore === right.firestore && left.definition.query == right.definition.query
}
