// SPDX-License-Identifier: Apache-2.0
import FirestoreQuery

extension Query {
  /// Calls back with the query's result at once and after each change, on `FirestoreSettings.dispatchQueue`, in order.
  ///
  /// The first snapshot comes from the cache if it holds anything for the query, and the backend's after it. Exactly
  /// one argument is non-nil. An error is the last callback.
  @discardableResult
  public func addSnapshotListener(
    _ listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
  }

  /// - Parameter includeMetadataChanges: whether a change of nothing but `SnapshotMetadata` is an event.
  @discardableResult
  public func addSnapshotListener(
    includeMetadataChanges: Bool, listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(
      options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges), listener: listener)
  }

  /// - Parameter options: what is an event, and where the data comes from.
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

  /// With the older form of the options.
  @discardableResult
  public func addSnapshotListener(
    options: QueryListenOptions, listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: options.options, listener: listener)
  }

  // MARK: As a sequence

  /// The result now and after each change. A consumer that falls behind gets the newest state, with all changes since
  /// the snapshot it saw last.
  public var snapshots: AsyncThrowingStream<QuerySnapshot, any Error> {
    snapshots(options: SnapshotListenOptions())
  }

  /// - Parameter includeMetadataChanges: whether a change of nothing but `SnapshotMetadata` is an element.
  public func snapshots(includeMetadataChanges: Bool) -> AsyncThrowingStream<QuerySnapshot, any Error> {
    snapshots(options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges))
  }

  /// The result now and after each change.
  /// - Parameter bufferingPolicy: what becomes of snapshots that are not read in time.
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
