// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import HearthTesting

/// The clients of a scenario while it is played.
struct ScenarioStage {
  typealias Tasks = ThrowingTaskGroup<Void, any Error>

  let world: ScenarioWorld
  /// The name of the scenario.
  let scenario: String
  /// The time since the scenario began.
  let elapsed: @Sendable () -> Duration
  /// The clients in the order in which they were first opened.
  private(set) var all: [ScenarioClient] = []
  private var plans: [String: ClientPlan] = [:]
  /// The bundles by their names.
  var bundles: [String: [UInt8]] = [:]
  /// The clients whose caches others share.
  private let owners: Set<String>

  init(_ scenario: Scenario, in world: ScenarioWorld) {
    (self.scenario, self.world) = (scenario.name, world)
    owners = Set(scenario.steps.compactMap { if case .openTab(let owner, _) = $0.action { owner } else { nil } })
    elapsed = world.clock.sinceNow()
  }

  /// The client of a step, which is opened if it is the only one and not there yet.
  mutating func client(_ name: String?, _ tasks: inout Tasks) throws(CommandFailure) -> ScenarioClient {
    if let client = all.first(where: { $0.name == name }) { return client }
    return try open(name, user: nil, &tasks)
  }

  /// All clients, or the one of a step.
  func clients(of step: ScenarioStep) -> [ScenarioClient] {
    step.client == nil ? all : all.filter { $0.name == step.client }
  }

  /// - Parameter owner: the client whose cache it uses; `nil` for a cache of its own.
  mutating func open(
    _ name: String?, user: String?, sharing owner: String? = nil, _ tasks: inout Tasks
  ) throws(CommandFailure) -> ScenarioClient {
    // A cache that is shared with one who shares it has one owner.
    let owner = owner.map { plans[$0]?.owner ?? $0 }
    let isShared = owner != nil || name.map { owners.contains($0) } ?? false
    var plan = ClientPlan(name, sharing: owner, isShared: isShared, user: user)
    plan.cacheSize = plans[name ?? ""]?.cacheSize
    let client = try opened(plan, isOnline: true, nil, &tasks)
    all.append(client)
    return client
  }

  private mutating func opened(
    _ plan: ClientPlan, isOnline: Bool, _ earlier: ScenarioClient?, _ tasks: inout Tasks
  ) throws(CommandFailure) -> ScenarioClient {
    plans[plan.name ?? ""] = plan
    let client = ScenarioClient(
      plan.name, try world.open(plan, isOnline: isOnline, earlier?.opened.faults), isOnline: isOnline)
    let scenario = self.scenario
    tasks.addTask {
      await client.followInherited { batch, status in
        "\(scenario): write #\(batch.rawValue), which was in the queue before, was rejected: \(status)"
      }
    }
    return client
  }

  /// Closes a client and opens it again on its cache, or gives it up as it is and opens one on its files as they are.
  /// Whether it is online stays, and who its user is.
  /// - Parameter failure: the failure of the step for a reason.
  mutating func reopen(
    _ name: String?, isKilled: Bool, _ tasks: inout Tasks, failure: (String) -> CommandFailure
  ) async throws {
    let before = try client(name, &tasks)
    guard let place = all.firstIndex(where: { $0 === before }), var plan = plans[name ?? ""] else { return }
    if isKilled {
      guard world.makesCache(of: name) else {
        throw failure("only a client whose cache the scenario has made is killed; leave out --cache.")
      }
      if plan.isShared {
        await before.abandon()
      } else {
        try world.copyCache(of: name, life: plan.life)
        plan.life += 1
      }
    }
    await before.close()
    let next = try opened(plan, isOnline: before.isOnline, before, &tasks)
    all[place] = next
  }

  /// Bounds a client's cache; a client that is open is opened anew for it.
  mutating func setCacheSize(
    _ bytes: Int64, of name: String?, _ tasks: inout Tasks, failure: (String) -> CommandFailure
  ) async throws {
    guard world.makesCache(of: name) else {
      throw failure("only a cache that the scenario has made gets a size; leave out --cache.")
    }
    guard all.contains(where: { $0.name == name }) else {
      _ = try client(name, &tasks)
      return try await setCacheSize(bytes, of: name, &tasks, failure: failure)
    }
    plans[name ?? ""]?.cacheSize = bytes
    try await reopen(name, isKilled: false, &tasks, failure: failure)
  }

  func close() async {
    for client in all { await client.close() }
  }

  // MARK: Facts

  /// Whether every write is answered, and every listener of a client that is online is in sync.
  func isSynchronized() async -> Bool { await Agreement.missing(all.map(\.agreeing)) == nil }

  /// Whether every listener has the result that the server has now.
  func isSame(at server: any Datastore) async throws -> Bool {
    try await Agreement.disagreement(all.map(\.agreeing), with: server) == nil
  }
}

extension ScenarioClient {
  func holds(_ state: ScenarioState, at server: any Datastore) async throws -> Bool {
    switch state {
    case .same: return false
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
    case .estimate(let key, let exists, let conditions):
      guard let document = try await engine.cachedDocument(key), let fields = document.data?.fields else {
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

  /// The results of listeners as lines for people.
  func lines(of name: String?, _ database: DatabaseID) -> [String] {
    listeners.filter { name == nil || $0.name == name }.flatMap { listener -> [String] in
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
  /// Measures the time from now on.
  fileprivate func sinceNow() -> @Sendable () -> Swift.Duration {
    let start = now
    return { start.duration(to: self.now) }
  }
}
