// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension DocumentReference {
  /// Calls back with the document at once and after each change, on `FirestoreSettings.dispatchQueue`, in order.
  ///
  /// Exactly one argument is non-nil. A document that does not exist is a snapshot whose `exists` is false. An error
  /// is the last callback.
  @discardableResult
  public func addSnapshotListener(
    _ listener: @escaping @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
  }

  /// - Parameter includeMetadataChanges: whether a change of nothing but `SnapshotMetadata` is an event.
  @discardableResult
  public func addSnapshotListener(
    includeMetadataChanges: Bool,
    listener: @escaping @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(
      options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges), listener: listener)
  }

  /// - Parameter options: what is an event, and where the data comes from.
  @discardableResult
  public func addSnapshotListener(
    options: SnapshotListenOptions,
    listener: @escaping @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    firestore.listen(to: key.map(Self.query), options: options) { [self] result in
      switch result {
      case .success(let view): listener(documentSnapshot(view), nil)
      case .failure(let error): listener(nil, error)
      }
    }
  }

  /// With the older form of the options.
  @discardableResult
  public func addSnapshotListener(
    options: DocumentListenOptions,
    listener: @escaping @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: options.options, listener: listener)
  }

  // MARK: As a sequence

  /// The document now and after each change. A consumer that falls behind gets the newest state, not every one.
  public var snapshots: AsyncThrowingStream<any DocumentSnapshot, any Error> {
    snapshots(options: SnapshotListenOptions())
  }

  /// - Parameter includeMetadataChanges: whether a change of nothing but `SnapshotMetadata` is an element.
  public func snapshots(includeMetadataChanges: Bool) -> AsyncThrowingStream<any DocumentSnapshot, any Error> {
    snapshots(options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges))
  }

  /// The document now and after each change.
  /// - Parameter bufferingPolicy: what becomes of snapshots that are not read in time.
  public func snapshots(
    options: SnapshotListenOptions, bufferingPolicy: SnapshotBufferingPolicy = .merged
  ) -> AsyncThrowingStream<any DocumentSnapshot, any Error> {
    firestore.stream(of: key.map(Self.query), options: options, bufferingPolicy: bufferingPolicy) { [self] in
      documentSnapshot($0)
    }
  }

  /// The document as a value, now and after each change; for an optional type `nil` while it does not exist. A document
  /// that cannot be decoded ends the sequence with the error.
  public func snapshots<T: Decodable & Sendable>(
    as type: T.Type, options: SnapshotListenOptions = SnapshotListenOptions(),
    bufferingPolicy: SnapshotBufferingPolicy = .merged, decoder: Firestore.Decoder = Firestore.Decoder()
  ) -> AsyncThrowingStream<T, any Error> {
    firestore.stream(of: key.map(Self.query), options: options, bufferingPolicy: bufferingPolicy) { [self] in
      try documentSnapshot($0).data(as: type, decoder: decoder)
    }
  }
}
