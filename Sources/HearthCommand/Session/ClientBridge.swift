// SPDX-License-Identifier: Apache-2.0
import Dashboard
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

/// Between the dashboard and the client: performs the dashboard's effects on the sync engine, and turns what the engine
/// says into the dashboard's events.
@MainActor
final class ClientBridge {
  private struct Subscription {
    let listener: ListenerID
    let mailbox: SnapshotMailbox
    let reading: Task<Void, Never>
  }

  let engine: SyncEngine
  let datastore: any Datastore
  private let faults: FaultInjector
  /// Why the data is not where the user expects it.
  private let dataNotice: StorageNotice?
  /// The data, where other processes use it too.
  private let data: SharedData?
  let emit: @MainActor (ClientEvent) -> Void

  private var listeners: [ListenerTag: Subscription] = [:]
  private var windows: [WindowTag: Subscription] = [:]
  private var details: [DocumentKey: Subscription] = [:]
  /// Open documents with writes whose result the server has not sent.
  private var unsettled: Set<DocumentKey> = []
  private var requests: [Int: Task<Void, Never>] = [:]
  /// What rules have decided was asked for, and has not been answered.
  var isListingDecisions = false
  private var requestCount = 0
  private(set) var canReachBackend: Bool
  private var news = StatusNews()
  var undoLog = UndoLog()
  /// What the authors of waiting writes saw.
  var seen: [BatchID: SeenContents] = [:]
  /// The newest of the dashboard's own writes.
  var lastWrite: Task<Void, Never>?
  /// The database, and how imports note what they were into; `nil` where nothing of it outlives the process.
  let transferPlace: (database: DatabaseID, backend: String?)
  /// What controls the server; `nil` for one that is no emulator.
  let control: EmulatorControl?
  /// The import or export that is under way.
  var transferring: Task<Void, Never>?
  /// The query to preview next, and whether another one is being answered.
  var nextPreview: Query?
  var isPreviewing = false
  /// Collections as last listed, by the path above them.
  private var listed: [ResourcePath: Set<String>] = [:]

  /// - Parameter startsOffline: whether the client uses no network until it is told to.
  init(
    _ client: Client, faults: FaultInjector, dataNotice: StorageNotice?, data: SharedData? = nil,
    transferPlace: (database: DatabaseID, backend: String?), startsOffline: Bool = false,
    control: EmulatorControl? = nil, emit: @escaping @MainActor (ClientEvent) -> Void
  ) {
    engine = client.engine
    datastore = client.datastore
    self.faults = faults
    self.dataNotice = dataNotice
    self.transferPlace = transferPlace
    self.control = control
    self.data = data
    canReachBackend = !startsOffline
    self.emit = emit
  }

  /// Passes the engine's status on until cancelled.
  func followStatus() async {
    let isShared = data != nil
    let notices = [engine.cacheProblem.map { StorageNotice($0, isDataShared: isShared) }, dataNotice]
      .compactMap(\.self)
    if let last = notices.last {
      emit(.storage(StorageNotice(badge: last.badge, message: notices.map(\.message).joined(separator: " "))))
    }
    for await status in engine.status(queueEnds: Self.queueEnds) {
      publish(status)
      // Each answer to a long queue changes it: a screen need not follow that fast, and the pause is left to the sending.
      if status.queue.count > Self.queueEnds { try? await Task.sleep(for: .milliseconds(50)) }
    }
  }

  /// Tells who uses the data besides until cancelled.
  func followCompany() async {
    guard let data else { return }
    for await company in data.companies() { emit(.company(company)) }
  }

  /// How many writes of a long queue are shown from each end.
  private static let queueEnds = 250

  /// Ends every subscription and request.
  func close() {
    for subscription in [listeners.values.map { $0 }, windows.values.map { $0 }, details.values.map { $0 }].joined() {
      end(subscription)
    }
    for request in requests.values { request.cancel() }
    transferring?.cancel()
  }

  // MARK: Effects

  func perform(_ effect: ClientEffect) {
    switch effect {
    case .listen(let tag, let query, let options): listen(tag, to: query, options)
    case .unlisten(let tag): listeners.removeValue(forKey: tag).map(end)
    case .openWindow(let tag, let query): openWindow(tag, query)
    case .closeWindow(let tag): windows.removeValue(forKey: tag).map(end)
    case .locate(let tag, let query, let offset): locate(tag, query, offset)
    case .listCollections(let parent): listCollections(below: parent)
    case .listMissing(let collection): listMissing(in: collection)
    case .count(let collection): count(collection)
    case .openDetail(let key): openDetail(key)
    case .closeDetail(let key):
      unsettled.remove(key)
      details.removeValue(forKey: key).map(end)
    case .setNetwork(let enabled):
      request { if enabled { await $0.engine.enableNetwork() } else { await $0.engine.disableNetwork() } }
    case .write(let mutations): write(mutations)
    case .edit(let edit): write(edit)
    case .cancelWrite(let batch): request { try await $0.engine.cancelWrite(batch) }
    case .undo(let allowed): undo(over: allowed)
    case .redo(let allowed): redo(over: allowed)
    case .resend(let batch, let mutations): resend(batch, as: mutations)
    case .dropRejected(let batches):
      news.settledRejected.formUnion(batches)
      request { bridge in for batch in batches { try await bridge.engine.dropRejectedWrite(batch) } }
    case .retryNow: request { await $0.engine.retryNow() }
    case .explain(let query): explain(query)
    case .preview(let query): preview(query)
    case .createIndexes(let query): createIndexes(for: query)
    case .deleteIndexes: engine.deleteAllIndexes()
    case .setIndexAutoCreation(let isEnabled): engine.setIndexAutoCreation(isEnabled)
    case .transfer(let request): transfer(request)
    case .cancelTransfer: transferring?.cancel()
    case .listDecisions(let known): listDecisions(after: known)
    case .setFaults(let settings): faults.apply(settings)
    case .injectFault(let fault): faults.inject(fault)
    }
  }

  // MARK: Listening

  private func listen(_ tag: ListenerTag, to query: Query, _ options: ListenerOptions) {
    listeners[tag] = subscribe(to: query, options) { [weak self] element in
      switch element {
      case .snapshot(let snapshot):
        self?.emit(.snapshot(ListenerSnapshot(snapshot, for: tag)))
        self?.noteCollections(of: snapshot.changes.lazy.map(\.document.key))
      case .failed(let status):
        self?.listeners[tag] = nil
        self?.emit(.listenerFailed(tag, status))
      }
    }
  }

  private func openWindow(_ tag: WindowTag, _ query: Query) {
    windows[tag] = subscribe(to: query, .withMetadata) { [weak self] element in
      switch element {
      case .snapshot(let snapshot):
        self?.emit(
          .windowLoaded(tag, snapshot.documents.documents, isFromCache: snapshot.isFromCache, total: nil))
      case .failed(let status):
        self?.windows[tag] = nil
        self?.emit(.windowFailed(tag, status))
      }
    }
  }

  private func openDetail(_ key: DocumentKey) {
    details[key] = subscribe(to: Query(path: key.path), .withMetadata) { [weak self] element in
      guard let self else { return }
      switch element {
      case .snapshot: self.readLayers(of: key)
      case .failed(let status):
        self.details[key] = nil
        self.emit(.notice(.error, "\(key): \(status)"))
      }
    }
  }

  private func readLayers(of key: DocumentKey) {
    request { bridge in
      let layers = try await bridge.engine.layers(of: key)
      guard bridge.details[key] != nil else { return }
      // A document that is not there fires nothing: what becomes of its deletion is found out with the status.
      let isUnsettled = layers.overlay != nil || layers.local?.hasPendingWrites == true
      if isUnsettled { bridge.unsettled.insert(key) } else { bridge.unsettled.remove(key) }
      bridge.emit(.detail(key, remote: layers.remote, overlay: layers.overlay, local: layers.local))
    }
  }

  private func subscribe(
    to query: Query, _ options: ListenerOptions, _ handle: @escaping @MainActor (SnapshotMailbox.Element) -> Void
  ) -> Subscription {
    let mailbox = SnapshotMailbox()
    let listener = engine.listen(to: query, options: options, into: mailbox)
    let reading = Task { while let element = await mailbox.next() { handle(element) } }
    return Subscription(listener: listener, mailbox: mailbox, reading: reading)
  }

  private func end(_ subscription: Subscription) {
    engine.stopListening(subscription.listener)
    subscription.mailbox.finish()
    subscription.reading.cancel()
  }

  // MARK: Requests

  private func listCollections(below parent: ResourcePath) {
    request { bridge in
      let cached = Set(try await bridge.engine.cachedCollectionIDs(below: parent))
      // What the cache has is shown at once: a server that is out of reach answers late, and only that it is.
      // Nothing that is shown goes for that long.
      let isNews = !cached.isEmpty && cached.isSuperset(of: bridge.listed[parent] ?? [])
      if isNews || !bridge.canReachBackend { bridge.show(cached, below: parent) }
      guard bridge.canReachBackend else { return }
      do throws(RPCStatus) {
        bridge.show(cached.union(try await bridge.datastore.listCollectionIDs(below: parent)), below: parent)
      } catch {
        bridge.show(cached, below: parent)
        bridge.emit(.collectionsUnlisted(below: parent, error))
        // The network pane says what is wrong with the connection.
        guard error.code == .unavailable || error.code == .deadlineExceeded else { throw error }
      }
    }
  }

  private func show(_ ids: Set<String>, below parent: ResourcePath) {
    listed[parent] = ids
    emit(.collections(below: parent, ids.sorted { $0.compareUTF8($1) == .ascending }))
  }

  /// Lists again where a document shows that there is a collection the list does not have.
  func noteCollections(of keys: some Sequence<DocumentKey>) {
    for key in keys {
      let parent = key.collection.parent
      guard let ids = listed[parent], !ids.contains(key.collection.last) else { continue }
      listed[parent]?.insert(key.collection.last)
      listCollections(below: parent)
    }
  }

  /// Servers find missing documents by looking through their neighbours, so only collections of a moderate size are
  /// asked about.
  private func listMissing(in collection: ResourcePath) {
    request { bridge in
      guard bridge.canReachBackend else { return }
      let limit = Self.largestListing
      let target = Query(path: collection, limit: limit + 1).target
      do throws(RPCStatus) {
        let figures = try await bridge.datastore.aggregate(target, [Aggregation(alias: "n", function: .count)])
        guard case .integer(let count)? = figures["n"], count <= limit else { return }
        bridge.emit(.missingDocuments(in: collection, try await bridge.datastore.missingDocuments(in: collection)))
      } catch {
        // A user who may read a collection need not be allowed to list it: the tree does without.
      }
    }
  }

  private static let largestListing = 3_000

  private func count(_ collection: ResourcePath) {
    request { bridge in
      let query = Query(path: collection)
      guard bridge.canReachBackend else {
        return bridge.emit(.counted(collection, try await bridge.engine.cachedDocuments(query).count))
      }
      let figures = try await bridge.datastore.aggregate(query.target, [Aggregation(alias: "n", function: .count)])
      if case .integer(let count)? = figures["n"] { bridge.emit(.counted(collection, Int(count))) }
    }
  }

  private func locate(_ tag: WindowTag, _ query: Query, _ offset: Int) {
    request { bridge in
      guard bridge.canReachBackend else {
        let documents = try await bridge.engine.cachedDocuments(query).documents
        let key = documents.indices.contains(offset) ? documents[offset].key : nil
        return bridge.emit(.located(tag, key, cachedCount: documents.count))
      }
      do throws(RPCStatus) {
        let key = try await bridge.datastore.key(at: offset, of: query.target)
        bridge.emit(.located(tag, key, cachedCount: nil))
      } catch {
        bridge.emit(.windowFailed(tag, error))
      }
    }
  }

  /// - Parameter mutations: what to write instead of what was rejected.
  private func resend(_ batch: BatchID, as mutations: [Mutation]? = nil) {
    news.settledRejected.insert(batch)
    let written = mutations ?? news.rejected.first { $0.id == batch }?.mutations ?? []
    request { bridge in
      var contents: [DocumentKey: UndoLog.Contents] = [:]
      for key in Set(written.map(\.key)) {
        contents[key] = UndoLog.Contents(try await bridge.engine.cachedDocument(key))
      }
      let batch = try await bridge.engine.resend(batch, as: mutations).local
      bridge.noteSeen(contents, by: batch, written)
    }
  }

  /// Runs one request to its end or until `close`; a failure becomes a notice.
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
      } catch {
        self.emit(.notice(.error, "\(error)"))
      }
      self.requests[id] = nil
    }
    requests[id] = task
    return task
  }

  /// What the cache knows of a document; `nil` also where it cannot be read.
  func cachedDocument(_ key: DocumentKey) async -> Document? { try? await engine.cachedDocument(key) }

  // MARK: Status

  /// Whether a batch is among those that were listed last.
  func isWaiting(_ batch: BatchID) -> Bool { news.queue?.contains { $0.id == batch } ?? false }

  private func publish(_ status: ClientStatus) {
    let couldReachBackend = canReachBackend
    canReachBackend = !status.isOffline
    // What was listed in between came from the cache alone.
    if canReachBackend, !couldReachBackend { listed.keys.forEach(listCollections) }
    for outcome in news.outcomes(of: status) {
      if outcome.rejection != nil {
        undoLog.forget(outcome.batch)
        forgetSeen(with: outcome.batch)
      }
      emit(StatusNews.event(of: outcome))
      if outcome.rejection == nil, let time = outcome.commitTime {
        tellConflicts(of: outcome.batch, appliedAt: time)
      }
    }
    for key in unsettled { readLayers(of: key) }
    if news.queue == nil { noteSeen(by: status.pendingWrites) }
    for event in news.changes(in: status) { emit(event) }
  }
}

extension ListenerOptions {
  fileprivate static var withMetadata: ListenerOptions { ListenerOptions(includeMetadataChanges: true) }
}

extension ListenerSnapshot {
  fileprivate init(_ snapshot: ViewSnapshot, for tag: ListenerTag) {
    self.init(
      listener: tag,
      changes: snapshot.changes.map { change in
        let key = change.document.key
        return Change(
          change.kind, change.document, previous: snapshot.oldDocuments[key],
          now: change.kind == .removed ? snapshot.departed[key] : nil)
      },
      isFromCache: snapshot.isFromCache, syncStateChanged: snapshot.syncStateChanged,
      hasPendingWrites: snapshot.hasPendingWrites, count: snapshot.documents.count, causes: snapshot.causes)
  }
}
