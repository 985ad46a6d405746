// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// A way to a backend on which work that was cancelled goes no further.
struct InterruptibleDatastore: Datastore {
  private let datastore: any Datastore

  init(_ datastore: any Datastore) { self.datastore = datastore }

  private func check() throws(RPCStatus) {
    if Task.isCancelled { throw RPCStatus(.cancelled, "It was interrupted.") }
  }

  // A client ends its streams by itself.
  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) { try await datastore.watch(requests: requests, deliver: deliver) }

  func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) { try await datastore.write(requests: requests, deliver: deliver) }

  func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    try check()
    return try await datastore.commit(mutations)
  }

  func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    try check()
    return try await datastore.read(read)
  }

  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    try check()
    try await datastore.visitDescendants(request, deliver: deliver)
  }

  var canFallSilent: Bool { datastore.canFallSilent }
  func reconnect() { datastore.reconnect() }
}
