// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// A reference to a document, which may not exist.
///
/// You can create a reference with an invalid path, but every call that uses the reference fails with
/// `invalidArgument`.
public struct DocumentReference: Sendable {
  /// The database of the document.
  public let firestore: Firestore
  let key: Result<DocumentKey, FirestoreError>

  /// The last segment of the path; empty for an invalid path.
  public var documentID: String { (try? key.get())?.documentID ?? "" }

  /// The path, slash-separated and relative to the database; empty for an invalid path.
  public var path: String { (try? key.get())?.path.text ?? "" }

  /// The collection that contains the document.
  public var parent: CollectionReference {
    CollectionReference(firestore: firestore, path: key.map(\.collection))
  }

  /// A collection below the document.
  /// - Parameter collectionPath: an odd number of segments, relative to the document.
  public func collection(_ collectionPath: String) -> CollectionReference {
    CollectionReference(
      firestore: firestore,
      path: key.flatMap { ReferencePath.collection(collectionPath, below: $0.path) })
  }
}

extension Firestore {
  /// The key of a document, which must belong to this `Firestore` instance.
  /// - Throws: `invalidArgument` if the reference has an invalid path or is from another instance.
  func key(of document: DocumentReference) throws(FirestoreError) -> DocumentKey {
    let key = try document.key.get()
    guard document.firestore === self else {
      throw .invalidArgument(
        "The document reference \(document.path) is from a different Firestore instance. Create it with this one.")
    }
    return key
  }
}

extension DocumentReference: Hashable {
  /// Whether both references have the same database and path.
  public static func == (left: DocumentReference, right: DocumentReference) -> Bool {
    left.firestore === right.firestore && left.key == right.key
  }

  /// Hashes the path.
  public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

extension DocumentReference: CustomStringConvertible {
  /// The reference as text, such as `DocumentReference(cities/SF)`.
  public var description: String { "DocumentReference(\(path))" }
}

/// Validates paths that users pass.
enum ReferencePath {
  static func collection(_ text: String, below parent: ResourcePath) -> Result<ResourcePath, FirestoreError> {
    joined(text, below: parent, kind: "collection").flatMap { path in
      path.isCollection
        ? .success(path)
        : .failure(
          .invalidArgument("A collection path has an odd number of segments, but \"\(path)\" has \(path.count)."))
    }
  }

  static func document(_ text: String, below parent: ResourcePath) -> Result<DocumentKey, FirestoreError> {
    joined(text, below: parent, kind: "document").flatMap { path in
      guard let key = DocumentKey(path) else {
        return .failure(
          .invalidArgument("A document path has an even number of segments, but \"\(path)\" has \(path.count)."))
      }
      return .success(key)
    }
  }

  /// Validates the id of a collection group.
  static func collectionID(_ text: String) -> Result<String, FirestoreError> {
    if text.isEmpty { return .failure(.invalidArgument("A collection id must not be empty.")) }
    if text.utf8.contains(UInt8(ascii: "/")) {
      return .failure(.invalidArgument("The collection id \"\(text)\" must not contain a slash."))
    }
    return .success(text)
  }

  private static func joined(
    _ text: String, below parent: ResourcePath, kind: String
  ) -> Result<ResourcePath, FirestoreError> {
    if text.isEmpty { return .failure(.invalidArgument("A \(kind) path must not be empty.")) }
    // Ignore leading and trailing slashes, as the SDKs do.
    let trimmed = text.drop { $0 == "/" }.reversed().drop { $0 == "/" }.reversed()
    do {
      let path = try ResourcePath(validating: String(trimmed))
      return .success(parent.isRoot ? path : ResourcePath(parent.text + "/" + path.text))
    } catch {
      return .failure(FirestoreError(error))
    }
  }
}

/// The source of a read.
public enum FirestoreSource: Hashable, Sendable {
  /// The backend, or the cache if the client is offline.
  case `default`
  /// Only the backend. Pending local writes are still applied to the result.
  case server
  /// Only the cache.
  case cache
}

extension DocumentReference {
  /// Reads the document once.
  /// - Throws: `unavailable` if the source cannot provide the document. The source `server` fails while offline,
  ///   `cache` fails if the document is not cached, and `default` fails if both apply. If the cache records that the
  ///   document does not exist, the result is a snapshot without data. As in the SDKs, there is one exception:
  ///   `default` fails for such a document while offline.
  public func getDocument(source: FirestoreSource = .default) async throws -> any DocumentSnapshot {
    try await read(source)
  }

  /// Starts `getDocument(source:)` with the default source and returns immediately.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue`.
  public func getDocument(completion: @escaping @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void) {
    getDocument(source: .default, completion: completion)
  }

  /// Starts `getDocument(source:)` and returns immediately.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue`.
  public func getDocument(
    source: FirestoreSource, completion: @escaping @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void
  ) {
    firestore.complete(completion) { () throws(FirestoreError) in try await read(source) }
  }

  private func read(_ source: FirestoreSource) async throws(FirestoreError) -> any DocumentSnapshot {
    let key = try key.get()
    if source == .cache { return try await readCache(key) }
    let (view, listener) = try await firestore.firstSnapshot(of: Self.query(key))
    let snapshot = documentSnapshot(view)
    if !snapshot.exists, view.isFromCache {
      throw .notRead("Failed to get document because the client is offline.", await listener.connectionReason())
    }
    if view.isFromCache, source == .server {
      throw .notRead(
        "Failed to get document from server. (However, this document does exist in the local cache: read it with "
          + "source .default or .cache.)", await listener.connectionReason())
    }
    return snapshot
  }

  private func readCache(_ key: DocumentKey) async throws(FirestoreError) -> any DocumentSnapshot {
    let cached = try await firestore.ask { engine throws(RPCStatus) in try await engine.cachedDocument(key) }
    guard let document = cached else {
      throw FirestoreError(
        .unavailable,
        "Failed to get document from cache. (However, this document may exist on the server: read it with source "
          + ".default or .server.)")
    }
    return SingleDocumentSnapshot(
      content: DocumentContent(
        firestore: firestore, key: key, document: document,
        metadata: SnapshotMetadata(hasPendingWrites: document.hasLocalMutations, isFromCache: true, causes: [])))
  }

  static func query(_ key: DocumentKey) -> FirestoreQuery.Query { FirestoreQuery.Query(path: key.path) }

  /// The document in the view of a document listener. Such a view contains at most one document.
  func documentSnapshot(_ view: ViewSnapshot) -> any DocumentSnapshot {
    let key = DocumentKey(unchecked: view.query.path)
    return SingleDocumentSnapshot(
      content: DocumentContent(
        firestore: firestore, key: key, document: view.documents[key],
        metadata: SnapshotMetadata(
          hasPendingWrites: view.mutatedKeys.contains(key), isFromCache: view.isFromCache,
          causes: view.causes.map(SnapshotCause.init))))
  }
}

extension DocumentReference {
  /// Calls `listener` with the document now and after each change, on `FirestoreSettings.dispatchQueue`, in order.
  ///
  /// In each call, exactly one argument is non-nil. A missing document results in a snapshot with `exists == false`.
  /// After an error, no more calls follow.
  @discardableResult
  public func addSnapshotListener(
    _ listener: @escaping @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
  }

  /// Adds a listener, with or without events for changes that concern only metadata.
  /// - Parameter includeMetadataChanges: whether a change of only `SnapshotMetadata` causes an event.
  @discardableResult
  public func addSnapshotListener(
    includeMetadataChanges: Bool,
    listener: @escaping @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(
      options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges), listener: listener)
  }

  /// Adds a listener with options.
  /// - Parameter options: the source of the data, and the changes that cause events.
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

  /// Adds a listener with the older form of the options.
  @discardableResult
  public func addSnapshotListener(
    options: DocumentListenOptions,
    listener: @escaping @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: options.options, listener: listener)
  }

  // MARK: As a sequence

  /// A sequence of snapshots: the document now and after each change. A slow consumer receives the newest state, not
  /// every state.
  public var snapshots: AsyncThrowingStream<any DocumentSnapshot, any Error> {
    snapshots(options: SnapshotListenOptions())
  }

  /// A sequence of snapshots: the document now and after each change. It can include changes that concern only
  /// metadata.
  /// - Parameter includeMetadataChanges: whether a change of only `SnapshotMetadata` produces an element.
  public func snapshots(includeMetadataChanges: Bool) -> AsyncThrowingStream<any DocumentSnapshot, any Error> {
    snapshots(options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges))
  }

  /// A sequence of snapshots: the document now and after each change.
  /// - Parameter bufferingPolicy: what happens to unread snapshots.
  public func snapshots(
    options: SnapshotListenOptions, bufferingPolicy: SnapshotBufferingPolicy = .merged
  ) -> AsyncThrowingStream<any DocumentSnapshot, any Error> {
    firestore.stream(of: key.map(Self.query), options: options, bufferingPolicy: bufferingPolicy) { [self] in
      documentSnapshot($0)
    }
  }

  /// A sequence of values decoded from the document, now and after each change. For an optional type, the value is
  /// `nil` while the document does not exist. If the document cannot be decoded, the sequence ends with the error.
  public func snapshots<T: Decodable & Sendable>(
    as type: T.Type, options: SnapshotListenOptions = SnapshotListenOptions(),
    bufferingPolicy: SnapshotBufferingPolicy = .merged, decoder: Firestore.Decoder = Firestore.Decoder()
  ) -> AsyncThrowingStream<T, any Error> {
    firestore.stream(of: key.map(Self.query), options: options, bufferingPolicy: bufferingPolicy) { [self] in
      try documentSnapshot($0).data(as: type, decoder: decoder)
    }
  }
}
