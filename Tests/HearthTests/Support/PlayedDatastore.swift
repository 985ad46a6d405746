// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Hearth

/// A backend whose watch stream a test plays; writes go to an embedded backend.
final class PlayedDatastore: Datastore {
  /// One stream: what the client asks for, and what it is told.
  struct Stream: Sendable {
    let requests: Events<WatchRequest>
    /// `nil` ends the stream.
    let changes: Events<WatchChange?>

    /// The next target that the client wants to watch.
    func target() async -> WatchTarget? {
      while let request = await requests.next() { if case .add(let target) = request { return target } }
      return nil
    }
  }

  let streams = Events<Stream>()
  private let base = Backend.inMemory.connect(to: DatabaseID(project: "hearth"))

  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let stream = Stream(requests: Events(), changes: Events())
    streams.send(stream)
    await deliver(.opened)
    await withTaskGroup { group in
      group.addTask {
        for await request in requests { stream.requests.send(request) }
        stream.changes.send(nil)
      }
      while case .some(.some(let change)) = await stream.changes.next() { await deliver(.changes([change])) }
      group.cancelAll()
    }
    throw RPCStatus(.unavailable, "gone")
  }

  func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    try await base.write(requests: requests, deliver: deliver)
  }

  func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse { try await base.commit(mutations) }
  func lookup(_ keys: [DocumentKey]) async throws(RPCStatus) -> [Document] { try await base.lookup(keys) }
  func runQuery(_ target: Target) async throws(RPCStatus) -> [Document] { try await base.runQuery(target) }
  func aggregate(
    _ target: Target, _ aggregations: [Aggregation]
  ) async throws(RPCStatus) -> [String: Value] { try await base.aggregate(target, aggregations) }
  func listCollectionIDs(below parent: ResourcePath) async throws(RPCStatus) -> [String] {
    try await base.listCollectionIDs(below: parent)
  }
}
