// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// A way to a backend on which work that was cancelled goes no further, and which tells whether the backend answers.
struct InterruptibleDatastore: Datastore {
  private let datastore: any Datastore

  /// Called after each call that shows whether the backend can be reached.
  private let tell: @Sendable (_ answers: Bool) -> Void

  init(_ datastore: any Datastore, tell: @escaping @Sendable (_ answers: Bool) -> Void = { _ in }) {
    (self.datastore, self.tell) = (datastore, tell)
  }

  private func telling<Result>(
    _ call: () async throws(RPCStatus) -> Result
  ) async throws(RPCStatus) -> Result {
    do throws(RPCStatus) {
      let result = try await call()
      tell(true)
      return result
    } catch {
      switch error.code {
      // A caller that does not wait learns nothing.
      case .cancelled, .deadlineExceeded: break
      default: tell(error.code != .unavailable)
      }
      throw error
    }
  }

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
    return try await telling { () async throws(RPCStatus) in try await datastore.commit(mutations) }
  }

  func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    try check()
    return try await telling { () async throws(RPCStatus) in try await datastore.read(read) }
  }

  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    try check()
    try await telling { () async throws(RPCStatus) in
      try await datastore.visitDescendants(request, deliver: deliver)
    }
  }

  var canFallSilent: Bool { datastore.canFallSilent }
  func reconnect() { datastore.reconnect() }
  var traffic: DatastoreTraffic? { datastore.traffic }
}
