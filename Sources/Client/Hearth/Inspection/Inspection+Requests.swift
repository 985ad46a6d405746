// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreInspection
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

extension InspectedSnapshot {
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
    self.init(
      listener: listener, changes: changes, omitted: snapshot.changeCount - changes.count,
      syncStateChanged: snapshot.syncStateChanged,
      result: ListenerState.Result(
        count: snapshot.documents.count, isFromCache: snapshot.isFromCache, hasPendingWrites: snapshot.hasPendingWrites),
      causes: snapshot.causes, time: time)
  }
}
