// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// Where a read looks.
public enum FirestoreSource: Hashable, Sendable {
  /// The backend, or the cache if the client is offline.
  case `default`
  /// The backend only; local writes it has not seen shine through all the same.
  case server
  /// The cache only.
  case cache
}

extension DocumentReference {
  /// Reads the document once.
  /// - Throws: `unavailable` where a source cannot tell: offline without a cached document, `server` while offline,
  ///   `cache` for a document it knows nothing about. A document known not to exist is no error, except offline with
  ///   `default`, as in the SDKs.
  public func getDocument(source: FirestoreSource = .default) async throws -> any DocumentSnapshot {
    try await read(source)
  }

  /// As `getDocument(source:)` with the default source.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue`.
  public func getDocument(completion: @escaping @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void) {
    getDocument(source: .default, completion: completion)
  }

  /// As `getDocument(source:)`.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue`.
  public func getDocument(
    source: FirestoreSource, completion: @escaping @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void
  ) {
    firestore.complete(completion) { () throws(FirestoreError) in try await read(source) }
  }

  private func read(_ source: FirestoreSource) async throws(FirestoreError) -> any DocumentSnapshot {
    let key = try key.get()
    if source == .cache { return try await readCache(key) }
    let view = try await firestore.firstSnapshot(of: Self.query(key))
    let snapshot = documentSnapshot(view)
    if !snapshot.exists, view.isFromCache {
      throw FirestoreError(.unavailable, "Failed to get document because the client is offline.")
    }
    if view.isFromCache, source == .server {
      throw FirestoreError(
        .unavailable,
        "Failed to get document from server. (However, this document does exist in the local cache: read it with "
          + "source .default or .cache.)")
    }
    return snapshot
  }

  private func readCache(_ key: DocumentKey) async throws(FirestoreError) -> any DocumentSnapshot {
    let document: Document?
    let engine = try firestore.client().engine
    do { document = try await engine.cachedDocument(key) } catch { throw FirestoreError(error) }
    guard let document else {
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

  /// The document of a document listener's view, which holds one document or none.
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
