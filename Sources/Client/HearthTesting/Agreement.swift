// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
import FirestoreSimulation
package import FirestoreSync

/// The parts of a client that the agreement checks need.
package struct AgreeingClient: Sendable {
  package var name: String?
  package var engine: SyncEngine
  package var isOnline: Bool
  package var listeners: [ListenerProbe]

  package init(_ name: String?, _ engine: SyncEngine, isOnline: Bool, _ listeners: [ListenerProbe]) {
    (self.name, self.engine, self.isOnline, self.listeners) = (name, engine, isOnline, listeners)
  }
}

/// Checks whether clients are in sync, and whether they agree with each other and with the server.
package enum Agreement {
  /// - Returns: a description of the first client that has unacknowledged writes or, while online, a listener that is
  ///   not in sync; `nil` if there is none.
  package static func missing(_ clients: [AgreeingClient]) async -> String? {
    for client in clients {
      let owner = client.name.map { "\($0): " } ?? ""
      guard let status = await client.engine.statusNow() else { return owner + "the client is closed" }
      let count = status.waitingWrites
      if count > 0 { return owner + "\(count) unanswered write\(count == 1 ? "" : "s")" }
      guard client.isOnline else { continue }
      for listener in client.listeners where !listener.isFromCacheAlone && listener.result?.isFromCache != false {
        return owner + "the listener of \(listener.query.path.text) is not in sync"
      }
    }
    return nil
  }

  /// - Returns: a description of the first disagreement; `nil` if every listener has the server's current result.
  /// - Throws: the server's error.
  package static func disagreement(
    _ clients: [AgreeingClient], with server: any Datastore
  ) async throws(RPCStatus) -> String? {
    if let missing = await missing(clients) { return missing }
    for client in clients {
      for listener in client.listeners where !listener.isFromCacheAlone {
        let owner = (client.name.map { "\($0): " } ?? "") + "the listener of \(listener.query.path.text) "
        guard let snapshot = listener.result, !snapshot.hasPendingWrites else { return owner + "has pending writes" }
        let there = try await server.runQuery(listener.query.target)
        let own = Dictionary(uniqueKeysWithValues: snapshot.documents.map { ($0.key, $0.data?.fields) })
        if let other = there.first(where: { own[$0.key] != .some($0.data?.fields) }) {
          return owner + (own[other.key] == nil ? "lacks" : "has different data for") + " \(other.key.path.text)"
        }
        let known = Set(there.map(\.key))
        if let more = snapshot.documents.first(where: { !known.contains($0.key) }) {
          return owner + "has \(more.key.path.text), which the server does not have"
        }
      }
    }
    return nil
  }
}

extension SyncEngine {
  /// The client's current status; `nil` if the client is closed.
  package nonisolated func statusNow() async -> ClientStatus? {
    for await status in status() { return status }
    return nil
  }
}

extension ClientStatus {
  /// The number of unacknowledged writes.
  package var waitingWrites: Int { max(pendingWrites.count, queue.count) }
}

extension TestStage {
  /// The default time limit of an expectation: ten seconds of simulated time.
  public static let patience = Duration.seconds(10)

  /// Waits until the backend has answered every client's writes, and until all listeners of online clients are in sync.
  /// - Parameter limit: the maximum time to wait, in the stage's simulated time.
  /// - Throws: ``StageFailure``, which names the unanswered write or the listener that is not in sync.
  public func waitForSync(
    within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try check(place)
    if try await isInTime(limit, { await world.missing() == nil }) { return }
    let missing = await world.missing() ?? "all clients are in sync now"
    throw failure(.notInTime, "not in sync within \(limit): \(missing).", place)
  }

  /// Waits until every listener of every client has the server's current result.
  /// - Parameter limit: the maximum time to wait, in the stage's simulated time.
  /// - Throws: ``StageFailure``, which describes the first disagreement.
  public func expectSame(
    within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try check(place)
    if try await isInTime(limit, { try await world.disagreement() == nil }) { return }
    let difference = try await world.disagreement() ?? "clients and server agree now"
    throw failure(.disagreement, "clients and server do not agree within \(limit): \(difference).", place)
  }

  func isInTime(_ limit: Duration, _ holds: () async throws -> Bool) async throws -> Bool {
    try await Patience.wait(limit, by: world.clock, until: holds)
  }
}
