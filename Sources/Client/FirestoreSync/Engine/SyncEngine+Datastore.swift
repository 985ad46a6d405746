// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

// Calls that bypass the cache and go directly to the backend.
extension SyncEngine {
  /// - Throws: `unavailable` while the network is disabled; `failed-precondition` after `terminate`.
  package func requireNetwork() async throws(RPCStatus) {
    guard core != nil else { throw .terminated }
    if core?.isNetworkEnabled == false {
      throw RPCStatus(
        .unavailable, "The client is offline: the network is disabled. Call enableNetwork() and try again.")
    }
  }

  /// The backend's current documents, without local writes, in the order of `keys`.
  package nonisolated func lookup(_ keys: [DocumentKey]) async throws(RPCStatus) -> [Document] {
    try await requireNetwork()
    return try await datastore.lookup(keys)
  }

  /// Commits mutations directly, without the queue of pending writes.
  @discardableResult
  package nonisolated func commitDirectly(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    try await requireNetwork()
    return try await datastore.commit(mutations)
  }

  /// Aggregates over the backend's documents.
  package nonisolated func aggregate(
    _ query: Query, _ aggregations: [Aggregation]
  ) async throws(RPCStatus) -> [String: Value] {
    try await requireNetwork()
    return try await datastore.aggregate(query.target, aggregations)
  }

  /// The results of a pipeline over the backend's documents.
  package nonisolated func execute(_ pipeline: PipelineMessage) async throws(RPCStatus) -> PipelineResponse {
    try await requireNetwork()
    return try await datastore.execute(pipeline)
  }
}
