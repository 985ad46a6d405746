// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// A client of this process, and the fault injector between the client and its backend.
struct InspectedEngine: InspectedClient {
  let engine: SyncEngine
  let faults: FaultInjector

  var clock: any Clock<Duration> { engine.clock }
  var storageNotice: StorageNotice? {
    engine.cacheProblem.map { StorageNotice(badge: "CACHE NOT IN USE", message: $0.notice) }
  }
  var faultState: ClientEvent { .faults(faults.settings, waiting: faults.waiting) }
  func faultChanges() -> AsyncStream<Void> { faults.changes() }

  nonisolated(nonsending) func listenerStates() async -> [ListenerState] { await engine.listenerStates() }
  func status(queueEnds: Int) -> AsyncStream<ClientStatus> { engine.status(queueEnds: queueEnds) }

  func news(wake: @escaping @Sendable () -> Void) -> any InspectedEvents {
    let news = EngineEventQueue(engine, wake)
    engine.setTap(news.tap)
    return news
  }

  /// Performs a request. Queries are run once, on the cache, without the backend.
  nonisolated(nonsending) func answer(_ request: ClientRequest) async throws(RPCStatus) -> ClientEvent? {
    switch request {
    case .openWindow(let tag, let query), .ask(let tag, let query):
      var bytes = 0
      let documents = try await engine.cachedDocuments(limited(query, to: Self.mostDocuments)).documents
      let page = documents.prefix { document in
        bytes += document.data?.encoded.bytes.count ?? 0
        return bytes <= Self.mostDocumentBytes
      }
      return .windowLoaded(tag, page.map(\.withoutAcknowledgedWrites), isFromCache: true, total: nil)
    case .locate(let tag, let query, let offset):
      let documents = try await engine.cachedDocuments(limited(query, to: offset + 1)).documents
      return .located(
        tag, documents.indices.contains(offset) ? documents[offset].key : nil, cachedCount: documents.count)
    case .listCollections(let parent):
      return .collections(below: parent, try await engine.cachedCollectionIDs(below: parent))
    case .count(let path):
      let count = try await engine.preview(FirestoreQuery.Query(path: path)).count
      return count.map { .counted(path, $0, isFromCache: true) }
    case .openDetail(let key):
      let layers = try await engine.layers(of: key)
      return .detail(key, remote: layers.remote, overlay: layers.overlay, local: layers.local)
    case .explain(let query): return .explained(query, .success(try await engine.explain(query)))
    case .preview(let query): return .previewed(query, .success(try await engine.preview(query)))
    case .lookInside: return .inside(.success(try await engine.inside()))
    case .surveyCache: return .surveyed(.success(try await engine.surveyCache()))
    case .closeWindow, .closeDetail: return nil
    case .restartStream(let kind): try await engine.restartStream(kind)
    case .setNetwork(true): await engine.enableNetwork()
    case .setNetwork(false): await engine.disableNetwork(byWatcher: true)
    case .retryNow: await engine.retryNow()
    case .cancelWrite(let batch): try await engine.cancelWrite(batch)
    case .resend(let batch, as: nil): _ = try await engine.resend(batch, as: nil).local
    case .dropRejected(let batches): for batch in batches { try await engine.dropRejectedWrite(batch) }
    case .setFaults(let settings): faults.apply(settings)
    case .causeFault(let event):
      if let objection = FaultChange.event(event).objectionOfClients { throw RPCStatus(.invalidArgument, objection) }
      faults.inject(event)
    default: throw RPCStatus(.unimplemented, "A watched program does not accept this request.")
    }
    return nil
  }

  /// The maximum document count and the maximum byte count of one reply.
  private static let mostDocuments = 500
  private static let mostDocumentBytes = 4 << 20

  private func limited(_ query: FirestoreQuery.Query, to limit: Int) -> FirestoreQuery.Query {
    var query = query
    query.limit = min(query.limit ?? limit, limit)
    return query
  }
}

/// The events of an engine's listeners. Snapshots are converted only when there is time to report them.
private final class EngineEventQueue: InspectedEvents {
  let tap: ListenerTap
  private let engine: SyncEngine

  init(_ engine: SyncEngine, _ wake: @escaping @Sendable () -> Void) {
    (self.engine, tap) = (engine, ListenerTap(wake: wake))
  }

  func end() { engine.setTap(nil) }
  func setCounting(_ isCounting: Bool) { tap.setCounting(isCounting) }

  func take() -> (items: [InspectedItem], missed: Int) {
    let (news, missed) = tap.take()
    let items = news.compactMap { item -> InspectedItem? in
      switch item {
      case .opened(let listener): .event(.listenerStarted(listener))
      case .ended(let id, let status):
        .event(
          status.map { .listenerFailed(ListenerTag(id.rawValue), $0) } ?? .listenerStopped(ListenerTag(id.rawValue)))
      case .snapshot(let id, let snapshot, let time):
        .snapshot { ListenerSnapshot(snapshot, of: id.rawValue, at: time) }
      // The tap of a watched client does not request writes.
      case .wrote: nil
      }
    }
    return (items, missed)
  }
}

extension Document {
  /// A copy of the document without the mark for acknowledged writes. Acknowledged writes are not pending, even if no
  /// listener has delivered the resulting version yet.
  fileprivate var withoutAcknowledgedWrites: Document {
    var document = self
    if hasCommittedMutations { document.pending = .none }
    return document
  }
}

extension ListenerSnapshot {
  /// Converts a view's snapshot, including only its first changes.
  fileprivate init(_ snapshot: ViewSnapshot, of listener: Int, at time: FirestoreModel.Timestamp) {
    let changes = snapshot.changes.prefix(Inspection.mostChanges).map { change in
      let key = change.document.key
      return Change(
        change.kind, change.document, previous: snapshot.previous(key),
        now: change.kind == .removed ? snapshot.departed[key] : nil)
    }
    self.init(
      listener: ListenerTag(listener), changes: Array(changes), isFromCache: snapshot.isFromCache,
      syncStateChanged: snapshot.syncStateChanged, hasPendingWrites: snapshot.hasPendingWrites,
      count: snapshot.documents.count, causes: snapshot.causes, time: time)
    keepFirstChanges(of: snapshot.changeCount)
  }
}
