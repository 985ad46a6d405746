// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import SerialExecutors

/// A datastore in front of another one, to which everything is passed on that the test does not do otherwise.
package protocol DatastoreWrapper: Datastore {
  var base: any Datastore { get }
}

extension DatastoreWrapper {
  package var canFallSilent: Bool { base.canFallSilent }
  package var loop: (any WorkLoop & TaskExecutor)? { base.loop }
  package func reconnect() { base.reconnect() }
  package var traffic: DatastoreTraffic? { base.traffic }

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) { try await base.watch(requests: requests, deliver: deliver) }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) { try await base.write(requests: requests, deliver: deliver) }

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    try await base.commit(mutations)
  }

  package func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    try await base.read(read)
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) { try await base.visitDescendants(request, deliver: deliver) }
}
