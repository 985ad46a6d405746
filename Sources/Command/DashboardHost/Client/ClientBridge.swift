// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOptions
import Dashboard
import DashboardModel
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSharing
import FirestoreSync

import class Hearth.Client

/// Connects the dashboard to the client in this process. Performs requests with the sync engine, and converts the
/// engine's snapshots and status to events.
@MainActor
final class ClientBridge {
  let engine: SyncEngine
  let datastore: any Datastore
  private let faults: FaultInjector
  /// The faults that were last reported to the dashboard.
  private var reportedFaults = (settings: FaultSettings(), waiting: [FaultEvent]())
  /// The reason why the data could not be opened as requested; `nil` if it was opened.
  private let dataNotice: StorageNotice?
  /// The data that is shared with other processes; `nil` for data in memory and for servers.
  let data: SharedData?
  private let report: @MainActor (ScreenEvent) -> Void

  var subscriptions: Subscriptions
  /// The open documents with writes for which the server has not yet sent a result.
  private var unsettled: Set<DocumentKey> = []
  /// Whether each open document comes only from the cache.
  private var cachedDetails: [DocumentKey: Bool] = [:]
  private var requests: [Int: Task<Void, Never>] = [:]
  /// Whether a request for rules decisions is pending.
  var isListingDecisions = false
  private var requestCount = 0
  private(set) var canReachBackend: Bool
  private var changes = StatusChanges()
  var undoLog = UndoLog()
  /// The running checks whether acknowledged writes caused conflicts.
  var conflictChecks: [BatchID: Task<Void, Never>] = [:]
  /// Whether to report the outcome of each write to the other clients on the screen.
  var tellsAnswers = false
  /// The contents of documents that the authors of pending writes had seen.
  var seen: [BatchID: SeenContents] = [:]
  /// The newest write that the dashboard itself made.
  var lastWrite: Task<Void, Never>?
  /// The destination in the progress files of imports. The backend is `nil` if its data does not outlive the process.
  let transferPlace: (database: DatabaseID, backend: String?)
  /// The control interface of the emulator; `nil` for other servers.
  let control: EmulatorControl?
  /// The running import or export.
  var transferring: Task<Void, Never>?
  /// The query that is previewed next, and whether a preview is running.
  var nextPreview: Query?
  var isPreviewing = false
  var listed = ListedCollections()
  /// The collections that are being counted, and whether each must be counted again.
  var counting: [ResourcePath: Bool] = [:]
  /// Whether the backend may support reports of commits.
  let tellsCommits: Bool
  /// The task that follows commits.
  var following: Task<Void, Never>?
  var searches: [WindowTag: Task<Void, Never>] = [:]
  /// The client's own listeners, if the dashboard does not control the client.
  var observed: ObservedListeners?
  private var isClosed = false

  /// - Parameters:
  ///   - startsOffline: whether the network stays disabled until a request enables it.
  ///   - observed: the client's own listeners, if the dashboard does not control the client.
  init(
    _ client: Client, faults: FaultInjector, dataNotice: StorageNotice?, data: SharedData? = nil,
    transferPlace: (database: DatabaseID, backend: String?), startsOffline: Bool = false,
    control: EmulatorControl? = nil, tellsCommits: Bool = true, showing observed: ObservedListeners? = nil,
    report: @escaping @MainActor (ScreenEvent) -> Void
  ) {
    engine = client.engine
    subscriptions = Subscriptions(client.engine, readsCache: observed != nil)
    self.observed = observed
    datastore = client.datastore
    self.faults = faults
    self.dataNotice = dataNotice
    self.transferPlace = transferPlace
    self.control = control
    self.tellsCommits = tellsCommits
    self.data = data
    canReachBackend = !startsOffline && observed == nil
    self.report = report
  }

  func emit(_ event: ClientEvent) { if !isClosed { report(.client(event)) } }
  func tell(_ event: HostEvent) { if !isClosed { report(.host(event)) } }

  /// Reports the engine's status until the task is canceled.
  func followStatus() async {
    let isShared = data != nil
    let notices = [engine.cacheProblem.map { StorageNotice($0, isDataShared: isShared) }, dataNotice]
      .compactMap(\.self)
    if let last = notices.last {
      emit(.storage(StorageNotice(badge: last.badge, message: notices.map(\.message).joined(separator: " "))))
    }
    async let _: Void = followFaults()
    for await status in engine.status(queueEnds: Self.queueEnds) {
      publish(status)
      // A long queue changes with each reply. The screen need not follow that fast, and the pause leaves time for
      // sending.
      if status.queue.count > Self.queueEnds { try? await Task.sleep(for: .milliseconds(50)) }
    }
  }

  /// Reports the faults if they have changed, for example because a one-time fault has occurred.
  private func followFaults() async {
    let changes = faults.changes()
    reportFaults()
    for await _ in changes { reportFaults() }
  }

  private func reportFaults() {
    let (settings, waiting) = (faults.settings, faults.waiting)
    guard reportedFaults.settings != settings || reportedFaults.waiting != waiting else { return }
    reportedFaults = (settings, waiting)
    emit(.faults(settings, waiting: waiting))
  }

  /// The engine's current status, including all writes so far; `nil` after the client has ended.
  func status() async -> ClientStatus? {
    await lastWrite?.value
    for await status in engine.status(queueEnds: Self.queueEnds) { return status }
    return nil
  }

  /// Reports the other processes that use the data, until the task is canceled.
  func followCompany() async {
    if let data { for await peers in data.peerChanges() { emit(.peers(peers)) } }
  }

  /// The number of writes shown from each end of a long queue.
  private static let queueEnds = 250

  /// Ends all subscriptions and requests. Nothing is reported after this call.
  func close() {
    isClosed = true
    subscriptions.closeAll()
    for request in requests.values { request.cancel() }
    for search in searches.values { search.cancel() }
    following?.cancel()
    transferring?.cancel()
  }

  // MARK: Requests

  func perform(_ asked: ClientRequest) {
    if observed != nil, asked.isControl { return }
    switch asked {
    case .listen(let tag, let query, let options): listen(tag, to: query, options)
    case .unlisten(let tag): subscriptions.close(.listener(tag))
    case .openWindow(let tag, let query): openWindow(tag, query)
    case .search(let tag, let request):
      do throws(RPCStatus) { search(tag, try SearchRun(request)) } catch { emit(asked.failed(error)) }
    case .closeWindow(let tag):
      subscriptions.close(.window(tag))
      searches.removeValue(forKey: tag)?.cancel()
    case .ask(let tag, let query): ask(tag, query)
    case .locate(let tag, let query, let offset): locate(tag, query, offset)
    case .listCollections(let parent): listCollections(below: parent)
    case .listMissing(let collection): listMissing(in: collection)
    case .count(let collection): count(collection)
    case .openDetail(let key): openDetail(key)
    case .closeDetail(let key):
      unsettled.remove(key)
      cachedDetails[key] = nil
      subscriptions.close(.detail(key))
    case .setNetwork(let enabled):
      request { if enabled { await $0.engine.enableNetwork() } else { await $0.engine.disableNetwork() } }
    case .write(let mutations): write(mutations)
    case .edit(let edit): write(edit)
    case .cancelWrite(let batch): request { try await $0.engine.cancelWrite(batch) }
    case .setWriteAside(let batch): request { try await $0.engine.setWriteAside(batch) }
    case .undo(let allowed): undo(over: allowed)
    case .redo(let allowed): redo(over: allowed)
    case .resend(let batch, let mutations): resend(batch, as: mutations)
    case .dropRejected(let batches):
      changes.settledRejected.formUnion(batches)
      request { bridge in for batch in batches { try await bridge.engine.dropRejectedWrite(batch) } }
    case .retryNow: request { await $0.engine.retryNow() }
    case .explain(let query):
      answer(asked) { (engine) throws(RPCStatus) in .explained(query, .success(try await engine.explain(query))) }
    case .preview(let query): preview(query)
    case .createIndexes(let query): createIndexes(for: query)
    case .deleteIndexes: engine.deleteAllIndexes()
    case .setIndexAutoCreation(let isEnabled): engine.setIndexAutoCreation(isEnabled)
    case .transfer(let request): transfer(request)
    case .cancelTransfer: transferring?.cancel()
    case .listDecisions(let known): listDecisions(after: known)
    case .setFaults(let settings):
      reportedFaults.settings = settings
      faults.apply(settings)
    case .causeFault(let event): faults.inject(event)
    case .lookInside: answer(asked) { (engine) throws(RPCStatus) in .inside(.success(try await engine.inside())) }
    case .surveyCache:
      answer(asked) { (engine) throws(RPCStatus) in .surveyed(.success(try await engine.surveyCache())) }
    case .countFieldTypes(let path):
      let count = FieldTypeCount(in: path, of: transferPlace.database)
      answer(asked) { (engine) throws(RPCStatus) in .fieldTypes(in: path, .success(try await count.run(over: engine))) }
    case .evict(let scope, let age): evict(scope, olderThan: age)
    case .applyLifetimes: applyLifetimes()
    case .retain(let retention): request { try await $0.engine.retain(retention) }
    case .release(let retention): request { try await $0.engine.release(retention) }
    case .restartStream(let kind): request { try await $0.engine.restartStream(kind) }
    }
  }

  // MARK: Listening

  private func listen(_ tag: ListenerTag, to query: Query, _ options: ListenerOptions) {
    subscriptions.open(.listener(tag), query, options) { [weak self] element in
      switch element {
      case .snapshot(let snapshot): self?.emit(snapshot, of: tag)
      case .failed(let status):
        self?.subscriptions.forget(.listener(tag))
        self?.emit(.listenerFailed(tag, status))
      }
    }
  }

  func emit(_ snapshot: ViewSnapshot, of tag: ListenerTag) {
    emit(.snapshot(ListenerSnapshot(snapshot, for: tag)))
    noteCollections(of: snapshot.changes.lazy.map(\.document.key))
  }

  private func openWindow(_ tag: WindowTag, _ query: Query) {
    subscriptions.open(.window(tag), query) { [weak self] element in
      switch element {
      case .snapshot(let snapshot):
        self?.emit(
          .windowLoaded(tag, snapshot.documents.documents, isFromCache: snapshot.isFromCache, total: nil))
      case .failed(let status):
        self?.subscriptions.forget(.window(tag))
        self?.emit(.windowFailed(tag, status))
      }
    }
  }

  /// Reports the first result that is in sync. While the server is unreachable, reports the cached result.
  private func ask(_ tag: WindowTag, _ query: Query) {
    subscriptions.open(
      .window(tag), query, ListenerOptions(includeMetadataChanges: true, waitForSyncWhenOnline: true)
    ) { [weak self] element in
      guard let self, self.subscriptions.isOpen(.window(tag)) else { return }
      self.subscriptions.close(.window(tag))
      switch element {
      case .snapshot(let snapshot):
        self.emit(.windowLoaded(tag, snapshot.documents.documents, isFromCache: snapshot.isFromCache, total: nil))
      case .failed(let status): self.emit(.windowFailed(tag, status))
      }
    }
  }

  private func openDetail(_ key: DocumentKey) {
    subscriptions.open(.detail(key), Query(path: key.path)) { [weak self] element in
      guard let self else { return }
      switch element {
      case .snapshot(let snapshot):
        self.cachedDetails[key] = snapshot.isFromCache
        self.readLayers(of: key)
      case .failed(let status):
        self.subscriptions.forget(.detail(key))
        self.emit(.detailFailed(key, status))
      }
    }
  }

  /// Reads and reports the layers of an open document: the server's version, the pending writes and the result.
  /// - Returns: a task that ends when the layers were reported.
  @discardableResult
  func readLayers(of key: DocumentKey) -> Task<Void, Never> {
    request { bridge in
      let layers = try await bridge.engine.layers(of: key)
      guard bridge.subscriptions.isOpen(.detail(key)) else { return }
      // A missing document produces no snapshot: the status shows the result of its deletion.
      let isUnsettled = layers.overlay != nil || layers.local?.hasPendingWrites == true
      if isUnsettled { bridge.unsettled.insert(key) } else { bridge.unsettled.remove(key) }
      bridge.emit(
        .detail(
          key, remote: layers.remote, overlay: layers.overlay, local: layers.local,
          isFromCache: bridge.observed == nil ? bridge.cachedDetails[key] : nil))
    }
  }

  /// - Parameter mutations: the mutations that replace the rejected ones; `nil` to resend the rejected mutations
  ///   unchanged.
  private func resend(_ batch: BatchID, as mutations: [Mutation]? = nil) {
    changes.settledRejected.insert(batch)
    let written = mutations ?? changes.rejected.first { $0.id == batch }?.mutations ?? []
    request { bridge in
      var contents: [DocumentKey: UndoLog.Contents] = [:]
      for key in Set(written.map(\.key)) {
        contents[key] = UndoLog.Contents(try await bridge.engine.cachedDocument(key))
      }
      let batch = try await bridge.engine.resend(batch, as: mutations).local
      bridge.noteSeen(contents, by: batch, written)
    }
  }

  /// Reports the engine's response to a request, or the event for its failure.
  private func answer(
    _ asked: ClientRequest, _ ask: @escaping @MainActor (SyncEngine) async throws(RPCStatus) -> ClientEvent
  ) {
    request { bridge in
      do throws(RPCStatus) { bridge.emit(try await ask(bridge.engine)) } catch { bridge.emit(asked.failed(error)) }
    }
  }

  /// Runs one request until it ends or `close` is called. Reports its failure.
  @discardableResult
  func request(_ body: @escaping @MainActor (ClientBridge) async throws -> Void) -> Task<Void, Never> {
    requestCount += 1
    let id = requestCount
    let task = Task { [weak self] in
      guard let self else { return }
      do {
        try await body(self)
      } catch is CancellationError {
        // The session is over.
      } catch let status as RPCStatus where self.observed != nil && status == .terminated {
        // The client has ended, and the screen keeps its content.
      } catch let error as RPCStatus {
        self.emit(.requestFailed(error))
      } catch {
        self.tell(.notice(.error, "\(error)"))
      }
      self.requests[id] = nil
    }
    requests[id] = task
    return task
  }

  /// The cached document. `nil` if it is not cached or the cache cannot be read.
  func cachedDocument(_ key: DocumentKey) async -> Document? { try? await engine.cachedDocument(key) }

  // MARK: Status

  /// Whether a batch is in the queue that was last reported.
  func isWaiting(_ batch: BatchID) -> Bool { changes.queue?.contains { $0.id == batch } ?? false }

  /// The documents of the writes in the queue that was last reported.
  var waitingKeys: Set<DocumentKey> { Set((changes.queue ?? []).flatMap(\.mutations).map(\.key)) }

  private func publish(_ status: ClientStatus) {
    takeObserved()
    let couldReachBackend = canReachBackend
    canReachBackend = !status.isOffline && observed == nil
    followCommits(canReachBackend)
    if !canReachBackend { counting = [:] }
    // Collections listed while the backend was unreachable came only from the cache.
    if canReachBackend, !couldReachBackend { for parent in listed.parents { listCollections(below: parent) } }
    for outcome in changes.outcomes(of: status) {
      if tellsAnswers { tellAnswer(outcome) }
      if outcome.rejection != nil {
        undoLog.forget(outcome.batch)
        forgetSeen(with: outcome.batch)
      }
      emit(outcome.event)
      if outcome.rejection == nil, let time = outcome.commitTime {
        tellConflicts(of: outcome.batch, appliedAt: time)
      }
    }
    for key in unsettled { readLayers(of: key) }
    if changes.queue == nil { noteSeen(by: status.pendingWrites) }
    for event in changes.changes(in: status) {
      emit(event)
      if case .pendingWrites(let writes, _) = event {
        noteCollections(of: writes.lazy.flatMap(\.mutations).filter { $0.operation != .delete }.map(\.key))
        subscriptions.readAgain()
      }
    }
  }
}

extension ListenerSnapshot {
  init(_ snapshot: ViewSnapshot, for tag: ListenerTag) {
    self.init(
      listener: tag,
      changes: snapshot.changes.map { change in
        let key = change.document.key
        return Change(
          change.kind, change.document, previous: snapshot.previous(key),
          now: change.kind == .removed ? snapshot.departed[key] : nil)
      },
      isFromCache: snapshot.isFromCache, syncStateChanged: snapshot.syncStateChanged,
      hasPendingWrites: snapshot.hasPendingWrites, count: snapshot.documents.count, causes: snapshot.causes,
      wasAsked: snapshot.readTime != nil)
  }
}
