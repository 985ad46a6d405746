// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import FirestoreClientState
import FirestoreModel
import FirestoreProxy
import FirestoreQuery
import Synchronization

import protocol Hearth.InspectedClient
import protocol Hearth.InspectedEvents
import enum Hearth.InspectedItem

/// One client of a proxy, or all its clients together, as shown to watchers. It stores the listeners with the documents
/// that the server has sent, and the writes without a response. The proxy cannot see the client's cache.
final class WatchedClient: InspectedClient {
  fileprivate struct State {
    var listeners: [ListenerTag: ListenerState] = [:]
    var results: [ListenerTag: [DocumentKey: Document]] = [:]
    var sent: [ListenerTag: Int] = [:]
    /// The writes of each client for which the server has sent no response.
    var waiting: [String: [PendingWrite]] = [:]
    var outcomes: [WriteOutcome] = []
    var outcomeCount = 0
    /// The count of all writes since the queue was last empty.
    var queued = 0
    var streams: [Int: (kind: StreamUse.Kind, isOpen: Bool)] = [:]
    var errors: [StreamUse.Kind: RPCStatus] = [:]
    var lastSnapshot: Timestamp?
    var connection = ConnectionState(.unknown, since: .now, reason: .idle)
    var news: ProxiedEventQueue?
    var observers: [Int: AsyncStream<ClientStatus>.Continuation] = [:]
    var lastObserver = 0
  }

  fileprivate static let mostOutcomes = 64

  /// The client's name; `nil` if this represents all clients.
  let name: String?
  private let server: ProxyServer
  private let state = Mutex(State())

  init(_ name: String?, of server: ProxyServer) { (self.name, self.server) = (name, server) }

  // MARK: What the proxy saw

  /// Updates the state of the connection after an event of the proxy. Call `receive` first, because it updates
  /// listeners and writes.
  func note(_ event: ProtocolEvent) {
    state.withLock { state in
      state.note(event, isNetworkEnabled: !server.settings.isOffline)
      state.publish(isNetworkEnabled: !server.settings.isOffline)
    }
  }

  /// Updates a client's listeners and writes after an event.
  func receive(_ event: ClientEvent, of client: String) {
    state.withLock { $0.receive(event, of: client, isNamed: name == nil) }
  }

  /// Reports whether the network is enabled, after the faults have changed.
  func noteFaults() {
    state.withLock { $0.publish(isNetworkEnabled: !server.settings.isOffline) }
  }

  /// Sends an event to the watcher. Does not change the state.
  func tell(_ event: ClientEvent) { state.withLock { $0.news?.put(event) } }

  /// Removes the listeners and writes of a client that has disconnected.
  func forget(_ client: String) {
    state.withLock { state in
      state.waiting[client] = nil
      for (tag, listener) in state.listeners where listener.client == client {
        state.remove(tag)
        state.news?.put(.listenerStopped(tag))
      }
    }
  }

  // MARK: InspectedClient

  var clock: any Clock<Duration> { ContinuousClock() }
  var storageNotice: StorageNotice? { nil }
  var faultState: ClientEvent { .faults(server.settings, waiting: server.waitingFaults) }
  func faultChanges() -> AsyncStream<Void> { server.faultChanges() }

  nonisolated(nonsending) func listenerStates() async -> [ListenerState] { state.withLock { $0.sortedListeners } }

  func status(queueEnds: Int) -> AsyncStream<ClientStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let id = state.withLock { state in
        state.lastObserver += 1
        state.observers[state.lastObserver] = continuation
        state.publish(isNetworkEnabled: !server.settings.isOffline)
        return state.lastObserver
      }
      continuation.onTermination = { _ in self.state.withLock { $0.observers[id] = nil } }
    }
  }

  func news(wake: @escaping @Sendable () -> Void) -> any InspectedEvents {
    let news = ProxiedEventQueue(wake) { [weak self] news in
      self?.state.withLock { if $0.news === news { $0.news = nil } }
    }
    state.withLock { state in
      state.news = news
      for listener in state.sortedListeners { news.put(.listenerStarted(listener)) }
    }
    return news
  }

  nonisolated(nonsending) func answer(_ request: ClientRequest) async throws(RPCStatus) -> ClientEvent? {
    switch request {
    case .openWindow(let tag, let query), .ask(let tag, let query):
      return .windowLoaded(tag, documents(query, limit: Self.mostDocuments), isFromCache: true, total: nil)
    case .locate(let tag, let query, let offset):
      let documents = documents(query, limit: offset + 1)
      return .located(
        tag, documents.indices.contains(offset) ? documents[offset].key : nil, cachedCount: documents.count)
    case .listCollections(let parent):
      let depth = parent.segments.count
      let ids = state.withLock { state in
        Set(
          state.keys.filter { parent.isPrefix(of: $0.path) && $0.path != parent }.map {
            String($0.path.segments[depth])
          })
      }
      return .collections(below: parent, ids.sorted { $0.compareUTF8($1) == .ascending })
    case .count(let path):
      return .counted(path, documents(Query(path: path), limit: Int.max).count, isFromCache: true)
    case .openDetail(let key):
      let document = state.withLock { state in state.results.values.lazy.compactMap { $0[key] }.first }
      return .detail(key, remote: document, overlay: nil, local: document)
    case .closeWindow, .closeDetail: return nil
    case .setNetwork(let enabled): try await server.perform(enabled ? .up : .down(nil))
    case .setFaults(let settings): await server.apply(settings)
    case .causeFault(let event): try await server.perform(.event(event))
    default:
      throw RPCStatus(
        .unimplemented,
        "The proxy sees only the client's messages. Attach to the client itself with 'hearth attach'.")
    }
    noteFaults()
    return nil
  }

  private static let mostDocuments = 500

  /// The documents that match a query, in the query's order. Only documents that the server has sent are included.
  private func documents(_ query: Query, limit: Int) -> [Document] {
    let known = state.withLock { state in
      Dictionary(state.results.values.lazy.joined().map { ($0.key, $0.value) }, uniquingKeysWith: { $0.newer($1) })
    }
    let target = query.target
    let found = DocumentSet(comparing: query, documents: known.values.filter { target.matches($0) })
    return Array(found.prefix(min(limit, query.limit ?? Int.max)))
  }
}

extension WatchedClient.State {
  /// The listeners, sorted by number.
  fileprivate var sortedListeners: [ListenerState] { listeners.values.sorted { $0.id < $1.id } }
  fileprivate var keys: Set<DocumentKey> { results.values.reduce(into: []) { $0.formUnion($1.keys) } }

  fileprivate mutating func receive(_ event: ClientEvent, of client: String, isNamed: Bool) {
    switch event {
    case .listenerStarted(var listener):
      if isNamed { listener.client = client }
      listeners[ListenerTag(listener.id)] = listener
      news?.put(.listenerStarted(listener))
    case .listenerStopped(let tag), .listenerFailed(let tag, _):
      remove(tag)
      news?.put(event)
    case .snapshot(var snapshot):
      for change in snapshot.changes {
        results[snapshot.listener, default: [:]][change.document.key] =
          change.kind == .removed ? nil : change.document
        if change.kind != .removed { sent[snapshot.listener, default: 0] += 1 }
      }
      listeners[snapshot.listener]?.result = ListenerState.Result(count: snapshot.count, isFromCache: false)
      lastSnapshot = snapshot.time
      snapshot.keepFirstChanges()
      news?.put(.snapshot(snapshot))
    case .pendingWrites(let writes, _):
      let known = Set(waiting[client, default: []].map(\.id))
      if waiting.values.allSatisfy(\.isEmpty) { queued = 0 }
      queued += writes.count { !known.contains($0.id) }
      waiting[client] = writes.isEmpty ? nil : writes
    case .writeAcknowledged(let batch, let after, let documents):
      answer(batch, after: after, nil, documents)
    case .writeRejected(let batch, let status): answer(batch, after: nil, status, nil)
    default: break
    }
  }

  fileprivate mutating func remove(_ tag: ListenerTag) {
    (listeners[tag], results[tag], sent[tag]) = (nil, nil, nil)
  }

  private mutating func answer(
    _ batch: BatchID, after: Duration?, _ rejection: RPCStatus?, _ documents: WrittenDocuments?
  ) {
    outcomeCount += 1
    let written = waiting.values.lazy.joined().first { $0.id == batch }.map { WrittenDocuments(of: $0.mutations) }
    outcomes.append(
      WriteOutcome(
        sequence: outcomeCount, batch: batch, after: after, rejection: rejection, documents: documents ?? written))
    outcomes = outcomes.suffix(WatchedClient.mostOutcomes)
  }

  /// Updates the state of the listen and write streams.
  fileprivate mutating func note(_ event: ProtocolEvent, isNetworkEnabled: Bool) {
    guard let stream = event.stream, let kind: StreamUse.Kind = ["Listen": .watch, "Write": .write][event.method] else {
      return
    }
    switch event.kind {
    case .opened: streams[stream] = (kind, false)
    case .response:
      streams[stream]?.isOpen = true
      errors[kind] = nil
    case .ended:
      streams[stream] = nil
      if let status = event.status, status.code != .ok { errors[kind] = status }
    default: return
    }
    let connection = connection(isNetworkEnabled, since: event.time)
    if connection.online != self.connection.online || connection.reason != self.connection.reason {
      self.connection = connection
    }
  }

  private func connection(_ isNetworkEnabled: Bool, since time: Timestamp) -> ConnectionState {
    if !isNetworkEnabled { return ConnectionState(.offline, since: time, reason: .networkDisabled) }
    if streams.values.contains(where: \.isOpen) { return ConnectionState(.online, since: time) }
    if let error = errors.values.first { return ConnectionState(.offline, since: time, reason: .failed(error)) }
    return ConnectionState(.unknown, since: time, reason: streams.isEmpty ? .idle : .connecting)
  }

  private func stream(_ kind: StreamUse.Kind) -> StreamStatus {
    let own = streams.values.filter { $0.kind == kind }
    let state: StreamStatus.State = own.isEmpty ? .closed : own.contains(where: \.isOpen) ? .open : .opening
    return StreamStatus(state, lastError: errors[kind])
  }

  fileprivate mutating func publish(isNetworkEnabled: Bool) {
    if isNetworkEnabled == (connection.reason == .networkDisabled) {
      connection = connection(isNetworkEnabled, since: .now)
    }
    if observers.isEmpty { return }
    let writes = waiting.values.joined().sorted { $0.id.rawValue < $1.id.rawValue }
    let status = ClientStatus(
      onlineState: connection.online, isNetworkEnabled: isNetworkEnabled,
      isDisabledByWatcher: !isNetworkEnabled, reason: connection.reason,
      since: connection.since, watch: stream(.watch), write: stream(.write), activeTargets: listeners.count,
      reads: sortedListeners.map {
        ReadMeter(target: $0.query.target, sent: sent[ListenerTag($0.id)] ?? 0, kept: 0)
      }, inFlightWrites: writes.count, pendingWrites: writes,
      queue: QueueSize(
        count: writes.count, total: max(queued, writes.count), byteCount: writes.reduce(0) { $0 + $1.byteCount }),
      lastSnapshotAt: lastSnapshot, roundTrips: outcomes.compactMap(\.after), recentOutcomes: outcomes,
      isDurable: false)
    for observer in observers.values { observer.yield(status) }
  }
}

extension Document {
  /// The newer one of two versions of the document.
  fileprivate func newer(_ other: Document) -> Document {
    guard let version, let newer = other.version else { return self }
    return newer > version ? other : self
  }
}

/// Queues the events of a proxy's client until a watcher reads them. If the queue is full, events are dropped, and
/// dropped snapshots are counted.
private final class ProxiedEventQueue: InspectedEvents {
  private struct State {
    var items: [InspectedItem] = []
    var missed = 0
    var isCounting = false
    var isAwake = false
  }

  private static let capacity = 4_096

  private let state = Mutex(State())
  private let wake: @Sendable () -> Void
  private let ended: @Sendable (ProxiedEventQueue) -> Void

  init(_ wake: @escaping @Sendable () -> Void, ended: @escaping @Sendable (ProxiedEventQueue) -> Void) {
    (self.wake, self.ended) = (wake, ended)
  }

  func put(_ event: ClientEvent) {
    let isNews = state.withLock { state in
      if case .snapshot(let snapshot) = event {
        if state.isCounting || state.items.count >= Self.capacity {
          state.missed += 1
        } else {
          state.items.append(.snapshot { snapshot })
        }
      } else if state.items.count < Self.capacity * 2 {
        state.items.append(.event(event))
      }
      guard !state.isAwake else { return false }
      state.isAwake = true
      return true
    }
    if isNews { wake() }
  }

  func take() -> (items: [InspectedItem], missed: Int) {
    state.withLock { state in
      defer { (state.items, state.missed, state.isAwake) = ([], 0, false) }
      return (state.items, state.missed)
    }
  }

  func setCounting(_ isCounting: Bool) { state.withLock { $0.isCounting = isCounting } }
  func end() { ended(self) }
}
