// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

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

  func lookup(_ keys: [DocumentKey]) async throws(RPCStatus) -> [Document] {
    try check()
    return try await datastore.lookup(keys)
  }

  func lookup(_ keys: [DocumentKey], _ view: ReadView) async throws(RPCStatus) -> [Document] {
    try check()
    return try await datastore.lookup(keys, view)
  }

  func runQuery(_ target: Target) async throws(RPCStatus) -> [Document] {
    try check()
    return try await datastore.runQuery(target)
  }

  func runQuery(_ target: Target, _ view: ReadView) async throws(RPCStatus) -> [Document] {
    try check()
    return try await datastore.runQuery(target, view)
  }

  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    try check()
    try await datastore.visitDescendants(request, deliver: deliver)
  }

  func key(at offset: Int, of target: Target) async throws(RPCStatus) -> DocumentKey? {
    try check()
    return try await datastore.key(at: offset, of: target)
  }

  func keys(of target: Target) async throws(RPCStatus) -> [DocumentKey] {
    try check()
    return try await datastore.keys(of: target)
  }

  func aggregate(_ target: Target, _ aggregations: [Aggregation]) async throws(RPCStatus) -> [String: Value] {
    try check()
    return try await datastore.aggregate(target, aggregations)
  }

  func aggregate(
    _ target: Target, _ aggregations: [Aggregation], at time: SnapshotVersion
  ) async throws(RPCStatus) -> [String: Value] {
    try check()
    return try await datastore.aggregate(target, aggregations, at: time)
  }

  func execute(_ pipeline: PipelineMessage) async throws(RPCStatus) -> PipelineResponse {
    try check()
    return try await datastore.execute(pipeline)
  }

  func databases(of project: String?) async throws(RPCStatus) -> [DatabaseID] {
    try check()
    return try await datastore.databases(of: project)
  }

  func listCollectionIDs(below parent: ResourcePath) async throws(RPCStatus) -> [String] {
    try check()
    return try await datastore.listCollectionIDs(below: parent)
  }

  func listCollectionIDs(
    below parent: ResourcePath, at time: SnapshotVersion
  ) async throws(RPCStatus) -> [String] {
    try check()
    return try await datastore.listCollectionIDs(below: parent, at: time)
  }

  func missingDocuments(in collection: ResourcePath) async throws(RPCStatus) -> [DocumentKey] {
    try check()
    return try await datastore.missingDocuments(in: collection)
  }

  func missingDocuments(
    in collection: ResourcePath, at time: SnapshotVersion
  ) async throws(RPCStatus) -> [DocumentKey] {
    try check()
    return try await datastore.missingDocuments(in: collection, at: time)
  }

  var canFallSilent: Bool { datastore.canFallSilent }
  func reconnect() { datastore.reconnect() }
}
