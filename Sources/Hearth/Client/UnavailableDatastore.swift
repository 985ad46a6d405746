// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// A backend that could not be opened. The client behaves as if it could not be reached: reads come from the cache,
/// writes wait, and the reason stands in its online state.
package struct UnavailableDatastore: Datastore {
  private let status: RPCStatus

  package init(because reason: String) { status = RPCStatus(.unavailable, reason) }

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) { throw status }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) { throw status }

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse { throw status }
  package func lookup(_ keys: [DocumentKey]) async throws(RPCStatus) -> [Document] { throw status }
  package func runQuery(_ target: Target) async throws(RPCStatus) -> [Document] { throw status }
  package func aggregate(
    _ target: Target, _ aggregations: [Aggregation]
  ) async throws(RPCStatus) -> [String: Value] { throw status }
  package func listCollectionIDs(below parent: ResourcePath) async throws(RPCStatus) -> [String] { throw status }
}
