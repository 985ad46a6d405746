// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync

import class Hearth.Client

/// The link between the dashboard and a client of a scenario: it tells what the client's listeners and writes do, and
/// answers from its cache. Nothing is asked of the server and no listener opened, so that what happens is what happens
/// without a screen.
@MainActor
final class ScenarioBridge {
  private let engine: SyncEngine
  private let tap: ListenerTap
  private let client: ClientBridge
  private let apply: @MainActor (Action) -> Void
  private let now: @MainActor () -> Timestamp
  private let database: DatabaseID

  private var tags: [ListenerID: ListenerTag] = [:]
  /// The scenario's listener that the dashboard is making a row for.
  private var adopting: ListenerID?
  private var windows: [WindowTag: FirestoreQuery.Query] = [:]
  private var details: Set<DocumentKey> = []
  private var listed = ListedCollections()
  private var following: Task<Void, Never>?
  private var reading: Task<Void, Never>?
  private var isStale = false
  private var isOver = false

  /// - Parameters:
  ///   - tap: sees the client's listeners from its first moment on.
  ///   - now: the time that the screen shows.
  init(
    _ opened: Client, _ faults: FaultInjector, _ tap: ListenerTap, _ database: DatabaseID,
    now: @escaping @MainActor () -> Timestamp, apply: @escaping @MainActor (Action) -> Void
  ) {
    (engine, self.tap, self.apply, self.now, self.database) = (opened.engine, tap, apply, now, database)
    client = ClientBridge(
      opened, faults: faults, dataNotice: nil, transferPlace: (database, nil), tellsCommits: false
    ) { event in apply(Action(event, at: now())) }
    following = Task { [client] in await client.followStatus() }
    list(below: .root)
  }

  /// Ends the link, as the client has ended; its listeners go from the screen.
  func close() {
    guard !isOver else { return }
    isOver = true
    following?.cancel()
    reading?.cancel()
    client.close()
    for tag in tags.values.sorted(by: { $0.rawValue < $1.rawValue }) { emit(.listenerStopped(tag)) }
  }

  private func emit(_ event: ClientEvent) { apply(.client(event, at: now())) }

  // MARK: What the client tells

  /// Takes what the listeners have told.
  func takeNews() {
    if isOver { return }
    let (news, missed) = tap.take()
    if missed > 0 { emit(.snapshotsMissed(missed, [:])) }
    for item in news {
      switch item {
      // Listeners without metadata have one with it beside them, which shows all that they do.
      case .opened(let listener) where listener.options.includeMetadataChanges: adopt(listener)
      case .opened: break
      case .snapshot(let id, let snapshot, _):
        guard let tag = tags[id] else { continue }
        emit(.snapshot(ListenerSnapshot(snapshot, for: tag)))
        note(snapshot.changes.lazy.map(\.document.key))
      case .ended(let id, let status):
        guard let tag = tags.removeValue(forKey: id) else { continue }
        emit(status.map { .listenerFailed(tag, $0) } ?? .listenerStopped(tag))
      }
    }
    readAgain()
  }

  private func adopt(_ listener: ListenerState) {
    adopting = ListenerID(listener.id)
    apply(.listen(listener.query, name: ListenerRecord.defaultName(for: listener.query), listener.options, at: now()))
    adopting = nil
  }

  /// Notes that the queue has changed.
  func noteWrites(_ writes: [PendingWrite]) {
    note(writes.lazy.flatMap(\.mutations).filter { $0.operation != .delete }.map(\.key))
    readAgain()
  }

  private func note(_ keys: some Sequence<DocumentKey>) {
    for parent in listed.noteNew(of: keys) { list(below: parent) }
  }

  // MARK: What the dashboard asks

  func perform(_ effect: ClientRequest) {
    switch effect {
    case .listen(let tag, _, _): if let adopting { tags[adopting] = tag }
    case .openWindow(let tag, let query):
      windows[tag] = query
      load(tag, query)
    case .closeWindow(let tag): windows[tag] = nil
    case .ask(let tag, let query): load(tag, query, isOnce: true)
    case .locate(let tag, let query, let offset): locate(tag, query, offset)
    case .search(let tag, let request):
      do throws(RPCStatus) { search(tag, try SearchRun(request)) } catch { emit(effect.failed(error)) }
    case .listCollections(let parent): list(below: parent)
    case .count(let path): count(path)
    case .openDetail(let key):
      details.insert(key)
      load(key)
    case .closeDetail(let key): details.remove(key)
    case .explain, .preview, .lookInside, .surveyCache, .countFieldTypes: client.perform(effect)
    // Requests for what the server alone knows, and effects that the dashboard itself refuses here.
    default: break
    }
  }

  /// Asks the cache, unless the client has ended.
  private func ask(_ body: @escaping @MainActor (ScenarioBridge) async throws(RPCStatus) -> Void) {
    Task { [weak self] in
      guard let self, !isOver else { return }
      // A client that ends answers nothing, and what is on the screen stays.
      do throws(RPCStatus) { try await body(self) } catch {}
    }
  }

  private func load(_ tag: WindowTag, _ query: FirestoreQuery.Query, isOnce: Bool = false) {
    ask { bridge async throws(RPCStatus) in
      let documents = try await bridge.engine.cachedDocuments(query).documents
      guard isOnce || bridge.windows[tag] != nil else { return }
      bridge.emit(.windowLoaded(tag, documents, isFromCache: true, total: nil))
    }
  }

  private func load(_ key: DocumentKey) {
    ask { bridge async throws(RPCStatus) in
      let layers = try await bridge.engine.layers(of: key)
      guard bridge.details.contains(key) else { return }
      bridge.emit(.detail(key, remote: layers.remote, overlay: layers.overlay, local: layers.local))
    }
  }

  private func locate(_ tag: WindowTag, _ query: FirestoreQuery.Query, _ offset: Int) {
    ask { bridge async throws(RPCStatus) in
      let documents = try await bridge.engine.cachedDocuments(query).documents
      let key = documents.indices.contains(offset) ? documents[offset].key : nil
      bridge.emit(.located(tag, key, cachedCount: documents.count))
    }
  }

  private func search(_ tag: WindowTag, _ run: SearchRun) {
    ask { bridge async throws(RPCStatus) in
      var run = run
      let documents = try await bridge.engine.cachedDocuments(run.page(after: nil, limit: 500)).documents
      bridge.emit(.searched(tag, run.look(at: documents, of: documents.count, isLast: true, isFromCache: true)))
    }
  }

  private func list(below parent: ResourcePath) {
    let number = listed.begin()
    ask { bridge async throws(RPCStatus) in
      let ids = try await bridge.engine.cachedCollectionIDs(below: parent)
      guard bridge.listed.take(Set(ids), of: number, below: parent) else { return }
      bridge.emit(.collections(below: parent, ids))
    }
  }

  private func count(_ path: ResourcePath) {
    ask { bridge async throws(RPCStatus) in
      let count = try await bridge.engine.cachedDocuments(FirestoreQuery.Query(path: path)).documents.count
      bridge.emit(.counted(path, count, isFromCache: true))
    }
  }

  /// Reads again what is open; what changes meanwhile is read once more then.
  private func readAgain() {
    isStale = true
    guard reading == nil, !isOver else { return }
    reading = Task { [weak self] in
      while let self, isStale, !isOver, !Task.isCancelled {
        isStale = false
        await readOpen()
      }
      self?.reading = nil
    }
  }

  private func readOpen() async {
    for (tag, query) in windows {
      // A client that has ended answers nothing.
      guard let documents = try? await engine.cachedDocuments(query).documents, windows[tag] != nil, !isOver else {
        continue
      }
      emit(.windowLoaded(tag, documents, isFromCache: true, total: nil))
    }
    for key in details {
      guard let layers = try? await engine.layers(of: key), details.contains(key), !isOver else { continue }
      emit(.detail(key, remote: layers.remote, overlay: layers.overlay, local: layers.local))
    }
  }
}
