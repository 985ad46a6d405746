// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol

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
  package var traffic: DatastoreTraffic? { base.traffic }

  package func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    try await explaining { () async throws(RPCStatus) in try await base.read(try read.at(time)) }
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    var request = request
    request.view.time = time
    try await explaining { () async throws(RPCStatus) in try await base.visitDescendants(request, deliver: deliver) }
  }

  /// Says in a user's words what a backend says of the time of a read.
  private func explaining<Result>(
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
