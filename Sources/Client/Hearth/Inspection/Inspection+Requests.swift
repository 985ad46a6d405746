// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync

extension Inspection {
  /// Answers a watcher's request from the cache; the backend is not asked.
  func answer(_ request: InspectionRequest, of watcher: Int) async -> InspectionAnswer {
    do throws(RPCStatus) {
      try request.check()
      return try await answered(request, of: watcher)
    } catch {
      return .failed(error)
    }
  }

  private func answered(
    _ request: InspectionRequest, of watcher: Int
  ) async throws(RPCStatus) -> InspectionAnswer {
    switch request {
    case .documents(let query):
      var bytes = 0
      let documents = try await engine.cachedDocuments(limited(query, to: Self.mostDocuments)).documents
      return .documents(
        Array(
          documents.prefix { document in
            bytes += document.data?.encoded.bytes.count ?? 0
            return bytes <= Self.mostDocumentBytes
          }.map(\.withoutAcknowledgedWrites)))
    case .locate(let query, let offset):
      let documents = try await engine.cachedDocuments(limited(query, to: offset + 1)).documents
      return .located(
        documents.indices.contains(offset) ? documents[offset].key : nil, count: documents.count)
    case .collections(let parent): return .collections(try await engine.cachedCollectionIDs(below: parent))
    case .count(let path): return .count(try await engine.preview(FirestoreQuery.Query(path: path)).count)
    case .layers(let key):
      let layers = try await engine.layers(of: key)
      return .layers(remote: layers.remote, overlay: layers.overlay, local: layers.local)
    case .explain(let query): return .explanation(try await engine.explain(query))
    case .preview(let query): return .preview(try await engine.preview(query))
    case .inside: return .inside(try await engine.inside())
    case .survey: return .survey(try await engine.surveyCache())
    case .restart(let kind): try await engine.restartStream(kind)
    case .setNetwork(true):
      watchers[watcher]?.hasSwitchedOff = false
      await engine.enableNetwork()
    case .setNetwork(false):
      // A network that the program itself has switched off stays off when the watcher goes.
      if isNetworkEnabled { watchers[watcher]?.hasSwitchedOff = true }
      await engine.disableNetwork()
    case .retryNow: await engine.retryNow()
    case .cancelWrite(let batch): try await engine.cancelWrite(batch)
    case .resend(let batch): _ = try await engine.resend(batch, as: nil).local
    case .dropRejected(let batches): for batch in batches { try await engine.dropRejectedWrite(batch) }
    case .setFaults(let settings):
      watchers[watcher]?.hasSetFaults = !settings.isCalm
      faults.apply(settings)
    case .injectFault(let fault):
      watchers[watcher]?.hasSetFaults = true
      faults.inject(fault)
    case .causeFault(let event):
      watchers[watcher]?.hasSetFaults = true
      faults.inject(event)
    }
    return .done
  }

  /// The largest numbers of documents and bytes in one answer.
  private static let mostDocuments = 500
  private static let mostDocumentBytes = 4 << 20

  private func limited(_ query: FirestoreQuery.Query, to limit: Int) -> FirestoreQuery.Query {
    var query = query
    query.limit = min(query.limit ?? limit, limit)
    return query
  }
}

extension Document {
  /// The document without the mark of acknowledged writes: they wait for nothing, though no listener has brought their
  /// version yet.
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

/// Checks of a watcher's requests. A watcher may be of another version, or a different program: its requests are
/// checked like those of a program to its own client, so that no number in them reaches arithmetic that ends the
/// program.
extension InspectionRequest {
  /// The longest that a watcher may let each message be late.
  private static let longestDelay = Duration.seconds(3600)
  private static let mostBytes = 1_000_000_000

  func check() throws(RPCStatus) {
    switch self {
    case .documents(let query), .explain(let query), .preview(let query): try Self.check(query)
    case .locate(let query, let offset):
      try Self.check(query)
      guard (0..<FirestoreQuery.Query.maximumLimit).contains(offset) else {
        throw Self.refusal("There is no document at \(offset).")
      }
    case .count(let path): try Self.check(FirestoreQuery.Query(path: path))
    case .collections(let parent): if !parent.isRoot { try Self.check(parent) }
    case .layers(let key): try Self.check(key.path)
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
      // A network that comes and goes at every moment is down.
      if let flap = settings.flap, flap < .milliseconds(1) { throw Self.refusal("A network flaps each 1 ms at most.") }
    case .causeFault(let event):
      if let objection = FaultChange.event(event).objectionOfClients { throw Self.refusal(objection) }
    case .setNetwork, .retryNow, .cancelWrite, .resend, .dropRejected, .injectFault, .inside, .survey, .restart: break
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
