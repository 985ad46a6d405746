// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import HearthTesting

/// The clients and bundles of a running scenario.
struct ScenarioRunState {
  let world: ScenarioWorld
  /// The name of the scenario.
  private let scenario: String
  /// The time since the start of the scenario.
  let elapsed: @Sendable () -> Duration
  /// The clients, in the order in which they were first opened.
  private(set) var clients: [ScenarioClient] = []
  /// The bundles by name.
  var bundles: [String: [UInt8]] = [:]
  /// The clients whose caches are shared with other clients.
  private let owners: Set<String>

  init(_ scenario: Scenario, in world: ScenarioWorld) {
    (self.scenario, self.world) = (scenario.name, world)
    owners = Set(
      scenario.steps.compactMap { if case .world(.open(let opening)) = $0.action { opening.owner } else { nil } })
    elapsed = world.clients.clock.sinceNow()
  }

  /// The client of a step. If there is only one client, it is opened when it is first used.
  mutating func client(_ name: String?) throws(CommandFailure) -> ScenarioClient {
    if let client = clients.first(where: { $0.name == name }) { return client }
    return try open(name, user: nil, sharing: nil)
  }

  /// - Parameter owner: the client whose cache the new client shares; `nil` for its own cache.
  @discardableResult
  mutating func open(_ name: String?, user: String?, sharing owner: String?) throws(CommandFailure) -> ScenarioClient {
    let cache = owner.flatMap { owner in clients.first { $0.name == owner }?.opening.cache }
    let isShared = name.map { owners.contains($0) } ?? false
    let client = followed(try world.open(name, user: user, on: cache, isShared: isShared))
    clients.append(client)
    return client
  }

  /// Replaces a client that was opened again with the new object that represents it.
  mutating func takeOpening(of client: ScenarioClient) throws(CommandFailure) {
    guard let place = clients.firstIndex(where: { $0 === client }) else { return }
    try world.checkCache(of: client.client)
    clients[place] = followed(client.client)
  }

  private func followed(_ client: WorldClient) -> ScenarioClient {
    let opened = ScenarioClient(client)
    world.follower?.opened(client.name, opened.opening.client, client.faults)
    let scenario = scenario
    opened.followInherited { batch, status in
      "\(scenario): write #\(batch.rawValue), from an earlier session, was rejected: \(status)"
    }
    return opened
  }

  func close() async {
    for client in clients { await client.client.close() }
  }
}

extension ScenarioClient {
  func holds(_ state: ScenarioState, at server: any Datastore) async throws -> Bool {
    switch state {
    case .pending(let count):
      guard let status = await engine.statusNow() else { return false }
      return status.waitingWrites == count
    case .connection(let wanted):
      guard let status = await engine.statusNow() else { return false }
      return wanted == .offline ? status.isOffline : status.onlineState == wanted
    case .results(let count, let name): return listener(name)?.result?.documents.count == count
    case .plan(let plan, let query): return try await engine.explain(query).plan == plan
    case .cached(let key, let isThere): return (try await engine.cachedDocument(key) != nil) == isThere
    case .streams(let isPrimary): return await engine.sharing()?.isPrimary == isPrimary
    case .estimate(let key, let exists, let conditions, let place):
      guard let document = try await document(key, at: place, server), let fields = document.data?.fields else {
        return false
      }
      guard let estimated = Value.map(fields).withEstimates else { return !exists }
      guard exists, case .map(let known) = estimated else { return false }
      var shown = document
      shown.state = .found(DocumentData(known))
      return FirestoreQuery.Query(path: key.collection, filters: conditions).matches(shown)
    case .document(let key, let exists, let conditions, let place):
      guard let document = try await document(key, at: place, server), document.exists else { return !exists }
      let query = FirestoreQuery.Query(path: key.collection, filters: conditions)
      return exists && query.matches(document)
    }
  }

  private func document(
    _ key: DocumentKey, at place: ScenarioState.Place, _ server: any Datastore
  ) async throws -> Document? {
    switch place {
    case .server: try await server.lookup([key]).first
    case .cache: try await engine.cachedDocument(key)
    case .listener(let name): listener(name)?.result?.documents[key]
    }
  }

  /// The results of listeners as lines of text.
  func lines(of name: String?, _ database: DatabaseID) -> [String] {
    opening.listeners.filter { name == nil || $0.name == name }.flatMap { listener -> [String] in
      let owner = [self.name, listener.name].compactMap(\.self).joined(separator: " ")
      let head = (owner.isEmpty ? "" : owner + ": ") + "\(listener.query.path.text)"
      guard let snapshot = listener.result else { return ["\(head): no snapshot yet"] }
      let marks = [snapshot.isFromCache ? "from the cache" : nil, snapshot.hasPendingWrites ? "pending" : nil]
        .compactMap(\.self).joined(separator: ", ")
      let count = snapshot.documents.count
      return ["\(head): \(count) document\(count == 1 ? "" : "s")\(marks.isEmpty ? "" : ", \(marks)")"]
        + snapshot.documents.map {
          "  \($0.key.path) \(DocumentJSON.line(of: $0.data?.fields ?? Fields(), relativeTo: database))"
        }
    }
  }
}

extension Clock where Duration == Swift.Duration {
  /// A function that measures the time since this call.
  fileprivate func sinceNow() -> @Sendable () -> Swift.Duration {
    let start = now
    return { start.duration(to: self.now) }
  }
}
