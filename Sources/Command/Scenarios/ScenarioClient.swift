// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import HearthTesting
import Synchronization

/// A client of a scenario. When the client is opened again, a new object represents it.
final class ScenarioClient: Sendable {
  private struct State {
    var batch: [Mutation]?
    /// The batches that were written since the client was last opened.
    var own: Set<BatchID> = []
  }

  struct Event: Sendable {
    var observed: ObservedEvent
    /// The message for the failure of the scenario if no step expects this event.
    var failure: String?
  }

  let client: WorldClient
  let opening: ClientOpening
  let events = EventQueue<Event>()
  private let state = Mutex(State())

  init(_ client: WorldClient) { (self.client, opening) = (client, client.opening) }

  var name: String? { client.name }
  var engine: SyncEngine { opening.engine }
  /// Whether the cache remains after the scenario.
  var isCacheKept: Bool { opening.cache.kept != nil }

  /// The newest listener with a name. With `nil`, the newest of all listeners.
  func listener(_ name: String?) -> ListenerProbe? { opening.listeners.last { name == nil || $0.name == name } }

  // MARK: Listening

  /// Starts a listener.
  /// - Parameter failure: the message if the listener fails and no step expects this.
  func listen(
    _ query: FirestoreQuery.Query, _ name: String?, _ options: ListenerOptions,
    failure: @escaping @Sendable (RPCStatus) -> String
  ) {
    opening.follow(ListenerProbe(to: query, options, named: name, of: engine)) { [self] news in
      switch news {
      case .snapshot(let snapshot):
        for change in snapshot.changes { put(ObservedEvent(.init(change.kind), [change.document.key.path], on: name)) }
      case .result(let snapshot): put(ObservedEvent(snapshot.isFromCache ? .cached : .synced, on: name))
      case .failed(let status): put(ObservedEvent(.failed, on: name, with: status.code), failure(status))
      }
    }
  }

  private func put(_ event: ObservedEvent, _ failure: String? = nil) {
    events.put(Event(observed: event, failure: failure))
  }

  /// Stops the listeners with a name.
  func stop(_ name: String) {
    for listener in opening.listeners where listener.name == name { opening.stop(listener) }
  }

  // MARK: Writing

  func beginBatch() { state.withLock { $0.batch = [] } }

  /// - Returns: the writes that were collected for a batch; `nil` if no batch is open.
  func takeBatch() -> [Mutation]? { state.withLock { $0.batch.take() } }

  /// Adds a write to the open batch, if there is one.
  /// - Returns: whether a batch is open.
  func gather(_ mutation: Mutation) -> Bool {
    state.withLock { state in
      guard state.batch != nil else { return false }
      state.batch?.append(mutation)
      return true
    }
  }

  /// Adds a write to the queue.
  /// - Parameter failure: the message if the write is rejected and no step expects this.
  /// - Throws: the reason why the cache cannot store the write.
  func write(_ mutations: [Mutation], failure: @escaping @Sendable (RPCStatus) -> String) async throws(RPCStatus) {
    // A completion that is awaited only after the call could be reported after the snapshot that shows it.
    let paths = mutations.map(\.key.path)
    let handle = engine.write(mutations) { [self] result in
      switch result {
      case .success: put(ObservedEvent(answerTo: paths, nil))
      case .failure(let status):
        // The write ends with the client, without a reply.
        if opening.isClosed { return }
        put(ObservedEvent(answerTo: paths, status), failure(status))
      }
    }
    let batch = try await handle.local
    state.withLock { _ = $0.own.insert(batch) }
  }

  /// Reports the outcomes of writes that were pending when the client was opened.
  /// - Parameter failure: the message if a write is rejected and no step expects this.
  func followInherited(failure: @escaping @Sendable (BatchID, RPCStatus) -> String) {
    opening.followAnswers { [self] outcome in
      if state.withLock({ $0.own.contains(outcome.batch) }) { return }
      put(ObservedEvent(outcome), outcome.rejection.map { failure(outcome.batch, $0) })
    }
  }
}
