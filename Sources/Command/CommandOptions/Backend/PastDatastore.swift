// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// A database as it was at one moment: whatever is read is of that moment, and nothing can be written.
package struct PastDatastore: Datastore {
  package let base: any Datastore
  package let time: SnapshotVersion
  /// Whether the moment is that at which reading began, and not one that a user named.
  package var isBeginning = false

  package init(base: any Datastore, time: SnapshotVersion, isBeginning: Bool = false) {
    (self.base, self.time, self.isBeginning) = (base, time, isBeginning)
  }

  package var canFallSilent: Bool { base.canFallSilent }
  package func reconnect() { base.reconnect() }

  package func lookup(_ keys: [DocumentKey]) async throws(RPCStatus) -> [Document] { try await lookup(keys, .whole) }

  package func lookup(_ keys: [DocumentKey], _ view: ReadView) async throws(RPCStatus) -> [Document] {
    try await read { () async throws(RPCStatus) in try await base.lookup(keys, past(view)) }
  }

  package func runQuery(_ target: Target) async throws(RPCStatus) -> [Document] { try await runQuery(target, .whole) }

  package func runQuery(_ target: Target, _ view: ReadView) async throws(RPCStatus) -> [Document] {
    try await read { () async throws(RPCStatus) in try await base.runQuery(target, past(view)) }
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    var request = request
    request.view = past(request.view)
    try await read { () async throws(RPCStatus) in try await base.visitDescendants(request, deliver: deliver) }
  }

  package func key(at offset: Int, of target: Target) async throws(RPCStatus) -> DocumentKey? {
    var target = target
    target.limit = offset + 1
    return try await keys(of: target).dropFirst(offset).first
  }

  package func keys(of target: Target) async throws(RPCStatus) -> [DocumentKey] {
    try await runQuery(target, .names).map(\.key)
  }

  package func aggregate(_ target: Target, _ aggregations: [Aggregation]) async throws(RPCStatus) -> [String: Value] {
    try await read { () async throws(RPCStatus) in try await base.aggregate(target, aggregations, at: time) }
  }

  package func databases(of project: String?) async throws(RPCStatus) -> [DatabaseID] {
    try await base.databases(of: project)
  }

  package func listCollectionIDs(below parent: ResourcePath) async throws(RPCStatus) -> [String] {
    try await read { () async throws(RPCStatus) in try await base.listCollectionIDs(below: parent, at: time) }
  }

  package func missingDocuments(in collection: ResourcePath) async throws(RPCStatus) -> [DocumentKey] {
    try await read { () async throws(RPCStatus) in try await base.missingDocuments(in: collection, at: time) }
  }

  private func past(_ view: ReadView) -> ReadView { ReadView(at: time, projection: view.projection) }

  /// Says in a user's words what a backend says of the time of a read.
  private func read<Result>(
    _ body: () async throws(RPCStatus) -> Result
  ) async throws(RPCStatus) -> Result {
    do throws(RPCStatus) { return try await body() } catch {
      guard error.message.contains("read_time") || error.message.contains("read time") else { throw error }
      let moment = time.timestamp.rfc3339Text
      if isBeginning {
        throw RPCStatus(
          .aborted,
          "What was there at \(moment), when this began, is no longer kept: more was changed meanwhile than the backend "
            + "keeps. Try again when less is changed, or say --live for each document as it is when its turn comes.")
      }
      if error.message.contains("future") {
        throw RPCStatus(.outOfRange, "\(moment) is in the future of the backend.")
      }
      // The embedded backend says itself what it keeps.
      if let known = error.message.firstRange(of: "The oldest that can be read") {
        throw RPCStatus(.outOfRange, "\(moment) cannot be read. \(error.message[known.lowerBound...])")
      }
      throw RPCStatus(
        .outOfRange,
        "\(moment) cannot be read: \(error.message) Cloud Firestore keeps the last hour, or with point-in-time recovery "
          + "a week of whole minutes.")
    }
  }

  // MARK: Writing

  private static let unchangeable = RPCStatus(.failedPrecondition, "The past cannot be changed.")

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse { throw Self.unchangeable }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) { throw Self.unchangeable }

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) { throw RPCStatus(.failedPrecondition, "The past does not change.") }
}
