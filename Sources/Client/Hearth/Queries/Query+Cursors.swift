// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension Query {
  /// Begins at the first document whose `order(by:)` fields are equal to these values or come after them.
  public func start(at values: [Any]) -> any Query { from(values, isInclusive: true) }
  /// Begins at the first document whose `order(by:)` fields come after these values.
  public func start(after values: [Any]) -> any Query { from(values, isInclusive: false) }
  /// Ends at the last document whose `order(by:)` fields come before these values.
  public func end(before values: [Any]) -> any Query { to(values, isInclusive: false) }
  /// Ends at the last document whose `order(by:)` fields are equal to these values or come before them.
  public func end(at values: [Any]) -> any Query { to(values, isInclusive: true) }

  /// Begins with the given document, which must have every field by which the query is ordered.
  public func start(atDocument document: any DocumentSnapshot) -> any Query { from(document, isInclusive: true) }
  /// Begins after a document.
  public func start(afterDocument document: any DocumentSnapshot) -> any Query { from(document, isInclusive: false) }
  /// Ends before a document.
  public func end(beforeDocument document: any DocumentSnapshot) -> any Query { to(document, isInclusive: false) }
  /// Ends with a document.
  public func end(atDocument document: any DocumentSnapshot) -> any Query { to(document, isInclusive: true) }

  private func from(_ values: [Any], isInclusive: Bool) -> any Query {
    refined { query throws(FirestoreError) in
      query.start = Bound(values: try CursorValues.of(values, for: query, in: firestore), isInclusive: isInclusive)
    }
  }

  private func to(_ values: [Any], isInclusive: Bool) -> any Query {
    refined { query throws(FirestoreError) in
      query.end = Bound(values: try CursorValues.of(values, for: query, in: firestore), isInclusive: isInclusive)
    }
  }

  private func from(_ document: any DocumentSnapshot, isInclusive: Bool) -> any Query {
    refined { query throws(FirestoreError) in
      let values = try CursorValues.of(document, for: &query, in: firestore)
      query.start = Bound(values: values, isInclusive: isInclusive)
    }
  }

  private func to(_ document: any DocumentSnapshot, isInclusive: Bool) -> any Query {
    refined { query throws(FirestoreError) in
      let values = try CursorValues.of(document, for: &query, in: firestore)
      query.end = Bound(values: values, isInclusive: isInclusive)
    }
  }
}

/// The values of a cursor, one for each of the leading orderings.
private enum CursorValues {
  static func of(
    _ values: [Any], for query: FirestoreQuery.Query, in firestore: Firestore
  ) throws(FirestoreError) -> [Value] {
    let orderings = query.explicitOrderBy
    guard values.count <= orderings.count else {
      throw .invalidArgument(
        "A cursor has at most one value per order(by:), not \(values.count) values for \(orderings.count) orderings.")
    }
    let names = DocumentNames(firestore: firestore, query: query)
    var encoded: [Value] = []
    for (any, ordering) in zip(values, orderings) {
      let value = try ValueEncoder.plain(any)
      encoded.append(ordering.path.isDocumentID ? try names.reference(value) : value)
    }
    return encoded
  }

  /// Creates a cursor from a document. Adds the query's implied orderings, including the document id, so that each
  /// value of the cursor has an ordering.
  static func of(
    _ snapshot: any DocumentSnapshot, for query: inout FirestoreQuery.Query, in firestore: Firestore
  ) throws(FirestoreError) -> [Value] {
    guard let document = snapshot.content.document, document.exists else {
      throw .invalidArgument("The document \(snapshot.reference.path) of a cursor does not exist.")
    }
    guard snapshot.content.firestore === firestore else {
      throw .invalidArgument(
        "The document \(snapshot.reference.path) of a cursor comes from another Firestore instance.")
    }
    query.explicitOrderBy = query.orderBy
    var values: [Value] = []
    for ordering in query.explicitOrderBy {
      if ordering.path.isDocumentID {
        values.append(.reference(firestore.database, document.key))
        continue
      }
      switch document[ordering.path] {
      case nil:
        throw .invalidArgument(
          "The document \(document.key) of a cursor has no field \(ordering.path.canonicalText) to order by.")
      case .serverTimestamp:
        throw .invalidArgument(
          "The field \(ordering.path.canonicalText) of cursor document \(document.key) is a server timestamp that the "
            + "backend has not set yet.")
      case let value?: values.append(value)
      }
    }
    return values
  }
}

/// Converts document ids in filters and cursors to references.
struct DocumentNames {
  let firestore: Firestore
  let query: FirestoreQuery.Query

  /// The operand of a filter on `FieldPath.documentID()`, with ids converted to references.
  func operand(_ value: Value, of op: FieldFilter.Operator) throws(FirestoreError) -> Value {
    switch op {
    case .arrayContains, .arrayContainsAny:
      throw .invalidArgument("You cannot use \(op.rawValue) with FieldPath.documentID().")
    case .in, .notIn:
      guard case .array(let ids) = value else { return value }
      var references: [Value] = []
      for id in ids { references.append(try reference(id)) }
      return .array(references)
    default: return try reference(value)
    }
  }

  /// The reference for a document id.
  /// - Parameter value: a document id or a reference. For a collection group, a path from the root instead of an id.
  func reference(_ value: Value) throws(FirestoreError) -> Value {
    switch value {
    case .reference(let database, _):
      guard database == firestore.database else {
        throw .invalidArgument(
          "A document reference from another database cannot be compared with documents of this database.")
      }
      return value
    case .string(let text): return .reference(firestore.database, try key(text))
    default:
      throw .invalidArgument(
        "FieldPath.documentID() can only be compared with document ids (strings) or DocumentReferences.")
    }
  }

  private func key(_ text: String) throws(FirestoreError) -> DocumentKey {
    if text.isEmpty { throw .invalidArgument("A document id must not be empty.") }
    if query.collectionGroup == nil {
      if text.utf8.contains(UInt8(ascii: "/")) {
        throw .invalidArgument("The document id \"\(text)\" must not contain a slash in a query of one collection.")
      }
      return DocumentKey(unchecked: query.path.appending(text))
    }
    // The error below explains the required path better than the path's own error.
    guard let path = try? ResourcePath(validating: text), let key = DocumentKey(path) else {
      throw .invalidArgument("In a collection group query \"\(text)\" must be the path of a document.")
    }
    return key
  }
}
