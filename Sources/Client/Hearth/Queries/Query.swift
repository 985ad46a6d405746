// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
package import FirestoreQuery
import FirestoreSync

/// A query for documents, which you can read or listen to. It selects a collection or collection group, optionally
/// filtered, ordered and limited.
///
/// `Query` is a protocol in Hearth, but a class in the official SDK. Because it is a protocol, `CollectionReference`
/// can be both a query and a `Sendable` value. You can create an invalid query, but every call that uses it fails with
/// `invalidArgument` and the reason.
public protocol Query: Sendable {
  /// The query as a `Hashable` value, for use in a `Set` or as a dictionary key.
  var definition: QueryDefinition { get }
}

/// The definition of any query as a `Hashable` value. The value is itself a query.
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
  /// Whether both values are the same query of the same database.
  public static func == (left: QueryDefinition, right: QueryDefinition) -> Bool {
    left.firestore === right.firestore && left.query == right.query
  }

  /// Hashes the query, without the database.
  public func hash(into hasher: inout Hasher) { hasher.combine(query) }
}

extension Query {
  /// The database that the query reads.
  public var firestore: Firestore { definition.firestore }

  /// The query after a change, or the error in the query or in the change.
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

  /// Validates the whole query and converts it to the internal query type.
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

/// Whether both values are the same query of the same database.
public func == (left: any Query, right: any Query) -> Bool {
  left.definition == right.definition
}

extension Query {
  /// Keeps only documents that satisfy the filter. Documents must satisfy all filters of a query.
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
  /// Keeps only documents whose field has the value's type and is less than the value.
  public func whereField(_ field: some FieldName, isLessThan value: Any) -> any Query {
    whereFilter(.whereField(field, isLessThan: value))
  }
  /// Keeps only documents whose field has the value's type and is less than or equal to the value.
  public func whereField(_ field: some FieldName, isLessThanOrEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isLessThanOrEqualTo: value))
  }
  /// Keeps only documents whose field has the value's type and is greater than the value.
  public func whereField(_ field: some FieldName, isGreaterThan value: Any) -> any Query {
    whereFilter(.whereField(field, isGreaterThan: value))
  }
  /// Keeps only documents whose field has the value's type and is greater than or equal to the value.
  public func whereField(_ field: some FieldName, isGreaterThanOrEqualTo value: Any) -> any Query {
    whereFilter(.whereField(field, isGreaterThanOrEqualTo: value))
  }
  /// Keeps only documents whose field is an array that contains the value.
  public func whereField(_ field: some FieldName, arrayContains value: Any) -> any Query {
    whereFilter(.whereField(field, arrayContains: value))
  }
  /// Keeps only documents whose field is an array that contains at least one of the values. At most 30 values are
  /// allowed.
  public func whereField(_ field: some FieldName, arrayContainsAny values: [Any]) -> any Query {
    whereFilter(.whereField(field, arrayContainsAny: values))
  }
  /// Keeps only documents whose field equals one of the values. At most 30 values are allowed.
  public func whereField(_ field: some FieldName, in values: [Any]) -> any Query {
    whereFilter(.whereField(field, in: values))
  }
  /// Keeps only documents whose field equals none of the values. Documents without the field do not match.
  public func whereField(_ field: some FieldName, notIn values: [Any]) -> any Query {
    whereFilter(.whereField(field, notIn: values))
  }
}

extension Query {
  /// Orders by a field, ascending. Omits documents without the field.
  public func order(by field: some FieldName) -> any Query { order(by: field, descending: false) }

  /// Orders by a field. Omits documents without the field. Documents with equal values are ordered by further
  /// orderings, and finally by document id.
  public func order(by field: some FieldName, descending: Bool) -> any Query {
    refined { query throws(FirestoreError) in
      if query.start != nil || query.end != nil {
        throw .invalidArgument(
          "order(by:) must come before the cursors start(at:), start(after:), end(at:) and end(before:).")
      }
      query.explicitOrderBy.append(OrderBy(try field.modelPath(), descending ? .descending : .ascending))
    }
  }

  /// Keeps only the first documents.
  /// - Parameter limit: at least 1, and at most 2 147 483 647.
  public func limit(to limit: Int) -> any Query { limited(to: limit, .first) }

  /// Keeps only the last documents, in the query's order. Requires an `order(by:)`.
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

extension Query {
  /// Reads the query's result once.
  ///
  /// While offline, the sources `default` and `cache` return the cached documents, even if no document is cached, and
  /// set `metadata.isFromCache`. The source `server` throws `unavailable`.
  public func getDocuments(source: FirestoreSource = .default) async throws -> QuerySnapshot {
    try await read(source)
  }

  /// Starts `getDocuments(source:)` with the default source and returns immediately.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue`.
  public func getDocuments(completion: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void) {
    getDocuments(source: .default, completion: completion)
  }

  /// Starts `getDocuments(source:)` and returns immediately.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue`.
  public func getDocuments(
    source: FirestoreSource, completion: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) {
    firestore.complete(completion) { () throws(FirestoreError) in try await read(source) }
  }

  private func read(_ source: FirestoreSource) async throws(FirestoreError) -> QuerySnapshot {
    let query = try validated()
    if source == .cache {
      return QuerySnapshot(try await firestore.firstSnapshot(of: query, source: .cache).view, of: self)
    }
    let (view, listener) = try await firestore.firstSnapshot(of: query)
    if view.isFromCache, source == .server {
      throw .notRead(
        "Failed to get documents from server. (However, these documents may exist in the local cache: read them with "
          + "source .default or .cache.)", await listener.connectionReason())
    }
    return QuerySnapshot(view, of: self)
  }
}

extension Query {
  /// Calls `listener` with the query's result now and after each change, on `FirestoreSettings.dispatchQueue`, in
  /// order.
  ///
  /// If the cache contains anything for the query, the first snapshot comes from the cache, followed by the backend's
  /// snapshot. In each call, exactly one argument is non-nil. After an error, no more calls follow.
  @discardableResult
  public func addSnapshotListener(
    _ listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
  }

  /// Adds a listener, with or without events for changes that concern only metadata.
  /// - Parameter includeMetadataChanges: whether a change of only `SnapshotMetadata` causes an event.
  @discardableResult
  public func addSnapshotListener(
    includeMetadataChanges: Bool, listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(
      options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges), listener: listener)
  }

  /// Adds a listener with options.
  /// - Parameter options: the source of the data, and the changes that cause events.
  @discardableResult
  public func addSnapshotListener(
    options: SnapshotListenOptions, listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    firestore.listen(to: validatedQuery, options: options) { [self] result in
      switch result {
      case .success(let view): listener(QuerySnapshot(view, of: self), nil)
      case .failure(let error): listener(nil, error)
      }
    }
  }

  /// Adds a listener with the older form of the options.
  @discardableResult
  public func addSnapshotListener(
    options: QueryListenOptions, listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: options.options, listener: listener)
  }

  // MARK: As a sequence

  /// A sequence of results: the result now and after each change. A slow consumer receives the newest state, with all
  /// changes since its last snapshot.
  public var snapshots: AsyncThrowingStream<QuerySnapshot, any Error> {
    snapshots(options: SnapshotListenOptions())
  }

  /// A sequence of results: the result now and after each change. It can include changes that concern only metadata.
  /// - Parameter includeMetadataChanges: whether a change of only `SnapshotMetadata` produces an element.
  public func snapshots(includeMetadataChanges: Bool) -> AsyncThrowingStream<QuerySnapshot, any Error> {
    snapshots(options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges))
  }

  /// A sequence of results: the result now and after each change.
  /// - Parameter bufferingPolicy: what happens to unread snapshots.
  public func snapshots(
    options: SnapshotListenOptions, bufferingPolicy: SnapshotBufferingPolicy = .merged
  ) -> AsyncThrowingStream<QuerySnapshot, any Error> {
    firestore.stream(of: validatedQuery, options: options, bufferingPolicy: bufferingPolicy) { [self] in
      QuerySnapshot($0, of: self)
    }
  }

  /// A sequence of arrays of decoded documents, now and after each change. If a document cannot be decoded, the
  /// sequence ends with the error.
  public func snapshots<T: Decodable & Sendable>(
    as type: T.Type, options: SnapshotListenOptions = SnapshotListenOptions(),
    bufferingPolicy: SnapshotBufferingPolicy = .merged, decoder: Firestore.Decoder = Firestore.Decoder()
  ) -> AsyncThrowingStream<[T], any Error> {
    firestore.stream(of: validatedQuery, options: options, bufferingPolicy: bufferingPolicy) { [self] in
      try QuerySnapshot($0, of: self).documents.map { try $0.data(as: type, decoder: decoder) }
    }
  }

  private var validatedQuery: Result<FirestoreQuery.Query, FirestoreError> {
    Result { () throws(FirestoreError) in try validated() }
  }
}
