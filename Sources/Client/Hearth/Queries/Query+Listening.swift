// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreQuery
import FirestoreSync

extension Query {
  /// Reads the query's result once.
  ///
  /// While offline, `default` and `cache` return the cached documents, of which there may be none, with
  /// `metadata.isFromCache`; `server` throws `unavailable`.
  public func getDocuments(source: FirestoreSource = .default) async throws -> QuerySnapshot {
    try await read(source)
  }

  /// Starts `getDocuments(source:)` with the default source and returns at once.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue`.
  public func getDocuments(completion: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void) {
    getDocuments(source: .default, completion: completion)
  }

  /// Starts `getDocuments(source:)` and returns at once.
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
  /// Calls back with the query's result at once and after each change, on `FirestoreSettings.dispatchQueue`, in order.
  ///
  /// The first snapshot comes from the cache if it holds anything for the query, and the backend's snapshot after it.
  /// Exactly one argument is non-nil. An error is the last callback.
  @discardableResult
  public func addSnapshotListener(
    _ listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
  }

  /// Adds a listener, with or without events for metadata alone.
  /// - Parameter includeMetadataChanges: whether a change of nothing but `SnapshotMetadata` is an event.
  @discardableResult
  public func addSnapshotListener(
    includeMetadataChanges: Bool, listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(
      options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges), listener: listener)
  }

  /// Adds a listener with options.
  /// - Parameter options: the source of the data, and the changes that are events.
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

  /// The result now and after each change. A consumer that falls behind gets the newest state, with all changes since
  /// the snapshot that it read last.
  public var snapshots: AsyncThrowingStream<QuerySnapshot, any Error> {
    snapshots(options: SnapshotListenOptions())
  }

  /// The result now and after each change, with or without elements for metadata alone.
  /// - Parameter includeMetadataChanges: whether a change of nothing but `SnapshotMetadata` is an element.
  public func snapshots(includeMetadataChanges: Bool) -> AsyncThrowingStream<QuerySnapshot, any Error> {
    snapshots(options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges))
  }

  /// The result now and after each change.
  /// - Parameter bufferingPolicy: the treatment of snapshots that are not read in time.
  public func snapshots(
    options: SnapshotListenOptions, bufferingPolicy: SnapshotBufferingPolicy = .merged
  ) -> AsyncThrowingStream<QuerySnapshot, any Error> {
    firestore.stream(of: validatedQuery, options: options, bufferingPolicy: bufferingPolicy) { [self] in
      QuerySnapshot($0, of: self)
    }
  }

  /// The documents as values, now and after each change. A document that cannot be decoded ends the sequence with the
  /// error.
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
