// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync

extension Inspection {
  /// Performs a watcher's request. Queries are answered once, from the cache, without the backend.
  /// - Returns: the reply event; `nil` for a change, which the status reports, and for a collection that is too large
  ///   to count.
  /// - Throws: the reason why the request is refused.
  func answer(_ request: ClientRequest, of watcher: Int) async throws(RPCStatus) -> ClientEvent? {
    try request.check()
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
    default:
      try await change(request, of: watcher)
      return nil
    }
  }

  private func change(_ request: ClientRequest, of watcher: Int) async throws(RPCStatus) {
    switch request {
    case .restartStream(let kind): try await engine.restartStream(kind)
    case .setNetwork(true):
      watchers[watcher]?.hasSwitchedOff = false
      await engine.enableNetwork()
    case .setNetwork(false):
      // A network that the program itself has disabled stays disabled after the watcher disconnects.
      if isNetworkEnabled { watchers[watcher]?.hasSwitchedOff = true }
      await engine.disableNetwork()
    case .retryNow: await engine.retryNow()
    case .cancelWrite(let batch): try await engine.cancelWrite(batch)
    case .resend(let batch, as: nil):
      changes.settledRejected.insert(batch)
      _ = try await engine.resend(batch, as: nil).local
    case .dropRejected(let batches):
      changes.settledRejected.formUnion(batches)
      for batch in batches { try await engine.dropRejectedWrite(batch) }
    case .setFaults(let settings):
      watchers[watcher]?.hasSetFaults = !settings.isCalm
      faults.apply(settings)
    case .causeFault(let event):
      watchers[watcher]?.hasSetFaults = true
      faults.inject(event)
    default: throw RPCStatus(.unimplemented, "A watched program does not accept this request.")
    }
  }

  /// The largest document and byte counts of one reply.
  private static let mostDocuments = 500
  private static let mostDocumentBytes = 4 << 20

  private func limited(_ query: FirestoreQuery.Query, to limit: Int) -> FirestoreQuery.Query {
    var query = query
    query.limit = min(query.limit ?? limit, limit)
    return query
  }
}

extension Document {
  /// The document without the mark of acknowledged writes. They are not pending, even before a listener has delivered
  /// their version.
  fileprivate var withoutAcknowledgedWrites: Document {
    var document = self
    if hasCommittedMutations { document.pending = .none }
    return document
  }
}

extension ListenerSnapshot {
  init(_ snapshot: ViewSnapshot, of listener: Int, at time: FirestoreModel.Timestamp) {
    var (bytes, changes): (Int, [Change]) = (0, [])
    for change in snapshot.changes.prefix(Inspection.mostChanges) {
      let key = change.document.key
      let previous = snapshot.previous(key)
      bytes += (change.document.data?.encoded.bytes.count ?? 0) + (previous?.data?.encoded.bytes.count ?? 0)
      if bytes > Inspection.mostBytes { break }
      changes.append(
        Change(
          change.kind, change.document, previous: previous,
          now: change.kind == .removed ? snapshot.departed[key] : nil))
    }
    let omitted = snapshot.changeCount - changes.count
    self.init(
      listener: ListenerTag(listener), changes: changes, isFromCache: snapshot.isFromCache,
      syncStateChanged: snapshot.syncStateChanged, hasPendingWrites: snapshot.hasPendingWrites,
      count: snapshot.documents.count, causes: snapshot.causes, omitted: omitted > 0 ? omitted : nil, time: time)
  }
}

/// Validation of a watcher's requests. A watcher may have another version or be a different program, so its requests
/// get the same checks as a program's own calls. No number in them can trap in arithmetic.
extension ClientRequest {
  /// The longest delay of a message that a watcher may set.
  private static let longestDelay = Duration.seconds(3600)
  private static let mostBytes = 1_000_000_000

  func check() throws(RPCStatus) {
    switch self {
    case .openWindow(_, let query), .ask(_, let query), .explain(let query), .preview(let query):
      try Self.check(query)
    case .locate(_, let query, let offset):
      try Self.check(query)
      guard (0..<FirestoreQuery.Query.maximumLimit).contains(offset) else {
        throw Self.refusal("There is no document at \(offset).")
      }
    case .count(let path): try Self.check(FirestoreQuery.Query(path: path))
    case .listCollections(let parent): if !parent.isRoot { try Self.check(parent) }
    case .openDetail(let key): try Self.check(key.path)
    case .setFaults(let settings):
      let delays =
        [settings.latency, settings.jitter, settings.flap ?? .zero]
        + settings.lanes.values.flatMap { [$0.latency ?? .zero, $0.jitter ?? .zero] }
      guard delays.allSatisfy({ ($0 >= .zero) && ($0 <= Self.longestDelay) }) else {
        throw Self.refusal("A delay is at least 0 and at most an hour.")
      }
      for share in [settings.lostAcknowledgements, settings.lostRequests] where !(0...100).contains(share) {
        throw Self.refusal("\(share) is no percentage.")
      }
      let rates = [settings.bandwidth, settings.readingRate] + settings.lanes.values.map(\.bandwidth)
      for case let rate? in rates where !(1...Self.mostBytes).contains(rate) {
        throw Self.refusal("A bandwidth is 1 to \(Self.mostBytes) bytes a second.")
      }
      // A network that flaps faster than this is down.
      if let flap = settings.flap, flap < .milliseconds(1) { throw Self.refusal("A network flaps each 1 ms at most.") }
    case .causeFault(let event):
      if let objection = FaultChange.event(event).objectionOfClients { throw Self.refusal(objection) }
    default: break
    }
  }

  private static func check(_ query: FirestoreQuery.Query) throws(RPCStatus) {
    if !query.path.isRoot { try check(query.path) }
    do throws(QueryError) { try query.validate() } catch { throw refusal(error.message) }
  }

  private static func check(_ path: ResourcePath) throws(RPCStatus) {
    do throws(ModelError) { _ = try ResourcePath(validating: path.text) } catch { throw refusal(error.message) }
  }

  private static func refusal(_ reason: String) -> RPCStatus { RPCStatus(.invalidArgument, reason) }
}
