// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreQuery
import FirestoreSync

extension Query {
  /// Reads the query's result once.
  ///
  /// Offline, `default` and `cache` give what the cache holds, which may be nothing, with `metadata.isFromCache`;
  /// `server` throws `unavailable`.
  public func getDocuments(source: FirestoreSource = .default) async throws -> QuerySnapshot {
    try await read(source)
  }

  /// As `getDocuments(source:)` with the default source.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue`.
  public func getDocuments(completion: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void) {
    getDocuments(source: .default, completion: completion)
  }

  /// As `getDocuments(source:)`.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue`.
  public func getDocuments(
    source: FirestoreSource, completion: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) {
    firestore.complete(completion) { () throws(FirestoreError) in try await read(source) }
  }

  private func read(_ source: FirestoreSource) async throws(FirestoreError) -> QuerySnapshot {
    let query = try validated()
    if source == .cache {
      return QuerySnapshot(try await firestore.firstSnapshot(of: query, source: .cache), of: self)
    }
    let view = try await firestore.firstSnapshot(of: query)
    if view.isFromCache, source == .server {
      throw FirestoreError(
        .unavailable,
        "Failed to get documents from server. (However, these documents may exist in the local cache: read them with "
          + "source .default or .cache.)")
    }
    return QuerySnapshot(view, of: self)
  }
}
