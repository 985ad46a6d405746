// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import HearthTesting
import Synchronization

import class Hearth.Client

/// One client of a scenario, from one opening to the next.
final class ScenarioClient: Sendable {
  private struct State {
    /// The listeners in the order in which they were opened.
    var listeners: [ListenerProbe] = []
    var batch: [Mutation]?
    var isOnline = true
    var isClosed = false
    /// The batches that this opening has written.
    var own: Set<BatchID> = []
  }

  let name: String?
  let opened: ScenarioWorld.Opened
  let events = EventQueue<ScenarioEvent>()
  private let state = Mutex(State())

  var engine: SyncEngine { opened.client.engine }

  init(_ name: String?, _ opened: ScenarioWorld.Opened, isOnline: Bool) {
    self.name = name
    self.opened = opened
    state.withLock { $0.isOnline = isOnline }
  }

  var isOnline: Bool {
    get { state.withLock(\.isOnline) }
    set { state.withLock { $0.isOnline = newValue } }
  }

  /// Whether the client ends, so that nothing is an answer any more.
  private var isClosed: Bool { state.withLock(\.isClosed) }

  func close() async {
    state.withLock { $0.isClosed = true }
    await opened.client.terminate()
  }

  /// Ends as a process that is killed does: clients that share the cache are told nothing.
  func abandon() async {
    state.withLock { $0.isClosed = true }
    await opened.client.abandon()
  }

  var listeners: [ListenerProbe] { state.withLock(\.listeners) }

  /// The newest listener of that name; of any for `nil`.
  func listener(_ name: String?) -> ListenerProbe? { listeners.last { name == nil || $0.name == name } }

  /// The client among those that are to agree.
  var agreeing: AgreeingClient { AgreeingClient(name, engine, isOnline: isOnline, listeners) }

  // MARK: Listening

  /// Opens a listener.
  /// - Returns: the task that reads the snapshots until the listener ends.
  func listen(
    _ query: FirestoreQuery.Query, _ name: String?, _ options: ListenerOptions,
    failure: @escaping @Sendable (RPCStatus) -> String
  ) -> @Sendable () async -> Void {
    let probe = ListenerProbe(to: query, options, named: name, of: engine)
    state.withLock { $0.listeners.append(probe) }
    return { [self] in
      await probe.follow { news in
        switch news {
        case .snapshot(let snapshot): self.tell(snapshot.changes, name)
        case .result(let snapshot):
          self.events.put(ScenarioEvent(kind: snapshot.isFromCache ? .cached : .synced, listener: name))
        case .failed(let status):
          self.events.put(
            ScenarioEvent(kind: .failed, listener: name, code: status.code, failure: failure(status)))
        }
      }
    }
  }

  private func tell(_ changes: [DocumentChange], _ listener: String?) {
    for change in changes {
      let kind: ScenarioEvent.Kind =
        switch change.kind {
        case .added: .added
        case .modified: .modified
        case .removed: .removed
        case .metadata: .metadata
        }
      events.put(ScenarioEvent(kind: kind, paths: [change.document.key.path], listener: listener))
    }
  }

  /// Ends the listeners of a name.
  func stop(_ name: String) {
    let ended = state.withLock { state in
      defer { state.listeners.removeAll { $0.name == name } }
      return state.listeners.filter { $0.name == name }
    }
    for listener in ended { listener.stop() }
  }

  // MARK: Writing

  func beginBatch() { state.withLock { $0.batch = [] } }

  /// - Returns: the writes that were gathered; `nil` if none are being gathered.
  func takeBatch() -> [Mutation]? { state.withLock { $0.batch.take() } }

  /// Keeps a write for the batch that is being gathered.
  /// - Returns: whether there is one.
  func gather(_ mutation: Mutation) -> Bool {
    state.withLock { state in
      guard state.batch != nil else { return false }
      state.batch?.append(mutation)
      return true
    }
  }

  /// Puts a write into the queue.
  /// - Parameter failure: what a rejection is told as that no step expects.
  /// - Throws: the reason why the cache cannot keep it.
  func write(_ mutations: [Mutation], failure: @escaping @Sendable (RPCStatus) -> String) async throws(RPCStatus) {
    // A completion awaited afterwards might be reported behind the snapshot that shows it.
    let paths = mutations.map(\.key.path)
    let handle = engine.write(mutations) { [self] result in
      switch result {
      case .success: events.put(ScenarioEvent(kind: .acknowledged, paths: paths))
      case .failure(let status):
        // The end of the client is no answer.
        if isClosed { return }
        events.put(ScenarioEvent(kind: .rejected, paths: paths, code: status.code, failure: failure(status)))
      }
    }
    let batch = try await handle.local
    state.withLock { _ = $0.own.insert(batch) }
  }

  /// Tells the answers to writes that were in the queue when the client was opened; ends with the client.
  /// - Parameter failure: what a rejection is told as that no step expects.
  func followInherited(failure: @escaping @Sendable (BatchID, RPCStatus) -> String) async {
    var paths: [BatchID: [ResourcePath]] = [:]
    var seen = -1
    for await status in engine.status() {
      for write in status.pendingWrites where paths[write.id] == nil {
        paths[write.id] = write.mutations.map(\.key.path)
      }
      for outcome in status.recentOutcomes where outcome.sequence > seen {
        seen = outcome.sequence
        if state.withLock({ $0.own.contains(outcome.batch) }) { continue }
        let paths = paths[outcome.batch] ?? []
        if let rejection = outcome.rejection {
          events.put(
            ScenarioEvent(
              kind: .rejected, paths: paths, code: rejection.code, failure: failure(outcome.batch, rejection)))
        } else {
          events.put(ScenarioEvent(kind: .acknowledged, paths: paths))
        }
      }
    }
  }
}

/// The way in which a client of a scenario is opened, the first time and each time after.
struct ClientPlan: Sendable {
  /// `nil` for the client without a name.
  let name: String?
  /// The client whose cache it uses; its own name for a cache of its own.
  let owner: String?
  /// Whether other clients use the same cache.
  let isShared: Bool
  /// The number of times that it was killed: each life has a folder of its own, unless the cache is shared.
  var life = 0
  /// The bytes above which the cache is collected; `nil` for a cache that never is.
  var cacheSize: Int64?
  let user: Kept<String?>
  /// The time by which the client's clock is ahead.
  let clock = Kept(Duration.zero)

  init(_ name: String?, sharing owner: String? = nil, isShared: Bool, user: String?) {
    (self.name, self.owner, self.isShared) = (name, owner ?? name, isShared)
    self.user = Kept(user)
  }
}

/// A value that outlives the openings of a client.
final class Kept<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) { state = Mutex(value) }

  var value: Value {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
