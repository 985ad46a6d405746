// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import HearthTesting
import Synchronization

/// One client of a scenario, from one opening to the next.
final class ScenarioClient: Sendable {
  private struct State {
    var batch: [Mutation]?
    /// The batches that this opening has written.
    var own: Set<BatchID> = []
  }

  struct Event: Sendable {
    var observed: ObservedEvent
    /// The reason why the scenario fails if no step expects this event.
    var failure: String?
  }

  let client: WorldClient
  let opening: ClientOpening
  let events = EventQueue<Event>()
  private let state = Mutex(State())

  init(_ client: WorldClient) { (self.client, opening) = (client, client.opening) }

  var name: String? { client.name }
  var engine: SyncEngine { opening.engine }
  /// Whether the cache outlives the scenario.
  var isCacheKept: Bool { opening.cache.kept != nil }

  /// The newest listener of that name; of any for `nil`.
  func listener(_ name: String?) -> ListenerProbe? { opening.listeners.last { name == nil || $0.name == name } }

  // MARK: Listening

  /// Opens a listener.
  /// - Parameter failure: what a failure is told as that no step expects.
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

  /// Ends the listeners of a name.
  func stop(_ name: String) {
    for listener in opening.listeners where listener.name == name { opening.stop(listener) }
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
      case .success: put(ObservedEvent(answerTo: paths, nil))
      case .failure(let status):
        // The end of the client is no answer.
        if opening.isClosed { return }
        put(ObservedEvent(answerTo: paths, status), failure(status))
      }
    }
    let batch = try await handle.local
    state.withLock { _ = $0.own.insert(batch) }
  }

  /// Tells the answers to writes that were in the queue when the client was opened.
  /// - Parameter failure: what a rejection is told as that no step expects.
  func followInherited(failure: @escaping @Sendable (BatchID, RPCStatus) -> String) {
    opening.followAnswers { [self] outcome in
      if state.withLock({ $0.own.contains(outcome.batch) }) { return }
      put(ObservedEvent(outcome), outcome.rejection.map { failure(outcome.batch, $0) })
    }
  }
}
