// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import Synchronization

/// One client of a scenario, from one opening to the next.
final class ScenarioClient: Sendable {
  struct Listener: Sendable {
    var name: String?
    var query: FirestoreQuery.Query
    var ids: [ListenerID]
    /// The newest snapshot, whose metadata is current.
    var snapshot: ViewSnapshot?
    var isFromCacheAlone: Bool
  }

  private struct State {
    var listeners: [Int: Listener] = [:]
    var lastListener = 0
    var batch: [Mutation]?
    var isOnline = true
    var isClosed = false
    /// The batches that this opening has written.
    var own: Set<BatchID> = []
  }

  let name: String?
  let opened: ScenarioWorld.Opened
  let events = ScenarioEvents()
  private let state = Mutex(State())

  var engine: SyncEngine { opened.engine }

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
    await opened.close()
  }

  /// The listeners in the order in which they were opened.
  var listeners: [Listener] { state.withLock { $0.listeners.sorted { $0.key < $1.key }.map(\.value) } }

  /// The newest listener of that name; of any for `nil`.
  func listener(_ name: String?) -> Listener? { listeners.last { name == nil || $0.name == name } }

  // MARK: Listening

  /// Opens a listener. One that does not ask for metadata has a second one beside it that does, so that it is known when
  /// the result is in sync.
  /// - Returns: the tasks that read the snapshots until the listener ends.
  func listen(
    _ query: FirestoreQuery.Query, _ name: String?, _ options: ListenerOptions,
    failure: @escaping @Sendable (RPCStatus) -> String
  ) -> [@Sendable () async -> Void] {
    let (number, mailbox) = state.withLock { state in
      state.lastListener += 1
      return (state.lastListener, SnapshotMailbox(capacity: 64))
    }
    var watching = options
    watching.includeMetadataChanges = true
    let shadow = SnapshotMailbox(capacity: 64)
    // The plain one is the first: of what one change does, it has its part before the other one.
    var ids = options.includeMetadataChanges ? [] : [engine.listen(to: query, options: options, into: mailbox)]
    ids.append(engine.listen(to: query, options: watching, into: shadow))
    let listener = Listener(
      name: name, query: query, ids: ids, snapshot: nil, isFromCacheAlone: options.source == .cache)
    state.withLock { $0.listeners[number] = listener }
    let tellsMetadata = options.includeMetadataChanges
    let watch: @Sendable () async -> Void = { [self] in
      while let element = await shadow.next() {
        guard case .snapshot(let snapshot) = element else {
          if case .failed(let status) = element, tellsMetadata { self.fail(name, status, failure(status)) }
          continue
        }
        if tellsMetadata { tell(snapshot.changes, name) } else { await mailbox.settle() }
        state.withLock { $0.listeners[number]?.snapshot = snapshot }
        events.put(ScenarioEvent(kind: snapshot.isFromCache ? .cached : .synced, listener: name))
      }
    }
    if tellsMetadata { return [watch] }
    let plain: @Sendable () async -> Void = { [self] in
      while let element = await mailbox.next() {
        switch element {
        case .snapshot(let snapshot): tell(snapshot.changes, name)
        case .failed(let status): self.fail(name, status, failure(status))
        }
      }
    }
    return [watch, plain]
  }

  private func fail(_ listener: String?, _ status: RPCStatus, _ failure: String) {
    events.put(ScenarioEvent(kind: .failed, listener: listener, code: status.code, failure: failure))
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
      let ended = state.listeners.filter { $0.value.name == name }
      for number in ended.keys { state.listeners[number] = nil }
      return ended.values.flatMap(\.ids)
    }
    for id in ended { engine.stopListening(id) }
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

  /// The vital signs now; `nil` once the client is closed.
  func status() async -> ClientStatus? {
    for await status in engine.status() { return status }
    return nil
  }
}
