// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreJSON
import FirestoreModel
import FirestoreQuery

// The JSON form of each event. A new event needs a case in `ClientEvent`, and lines in `write` and `read` below.

extension ListenerTag: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { rawValue.json(context) }
  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) { self.init(try Int(json: json, context)) }
}

extension WindowTag: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { rawValue.json(context) }
  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) { self.init(try Int(json: json, context)) }
}

extension ListenerSnapshot.Change: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ListenerSnapshot.Change(
      try form("kind", it?.kind), try form("document", it?.document),
      previous: try form.optional("previous", it?.previous), now: try form.optional("now", it?.now))
  }
}

extension ListenerSnapshot: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ListenerSnapshot(
      listener: try form("listener", it?.listener), changes: try form("changes", it?.changes),
      isFromCache: try form("fromCache", it?.isFromCache),
      syncStateChanged: try form("syncChanged", it?.syncStateChanged),
      hasPendingWrites: try form("pendingWrites", it?.hasPendingWrites), count: try form("count", it?.count),
      causes: try form("causes", it?.causes), omitted: try form.optional("omitted", it?.omitted),
      wasAsked: try form.optional("asked", it?.wasAsked), time: try form.optional("time", it?.time))
  }
}

extension SearchUpdate: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    SearchUpdate(
      hits: try form("hits", it?.hits), looked: try form("looked", it?.looked), found: try form("found", it?.found),
      isDone: try form("done", it?.isDone), isFromCache: try form("fromCache", it?.isFromCache))
  }
}

/// The current result of one listener, as reported in `snapshotsMissed`.
struct MissedResult: JSONRecord {
  var listener: ListenerTag
  var result: ListenerState.Result

  static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    MissedResult(listener: try form("listener", it?.listener), result: try form.members(of: it?.result))
  }
}

// MARK: - Conflicts

extension WriteConflict.Field: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let path: FieldPath = try form("field", it?.path)
    return WriteConflict.Field(
      path: path, base: try form.value("saw", it?.base, at: path), mine: try form.value("wrote", it?.mine, at: path),
      theirs: try form.value("replaced", it?.theirs, at: path))
  }
}

extension WriteConflict: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    WriteConflict(
      batch: try form("batch", it?.batch), key: try form("path", it?.key), fields: try form("fields", it?.fields),
      commitTime: try form("commitTime", it?.commitTime))
  }
}

extension ClientConflict.Outcome: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .replaced(let fields, let after):
      try form("fields", fields)
      try form("after", after)
      return "replaced"
    case .refused(let code, let effect, let after):
      try form("code", code)
      try form("effect", effect)
      try form("after", after)
      return "refused"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "replaced": .replaced(try form("fields"), after: try form("after"))
    case "refused": .refused(try form("code"), try form("effect"), after: try form("after"))
    default: nil
    }
  }
}

extension ClientConflict: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ClientConflict(
      key: try form("path", it?.key), other: try form.word("other", it?.other), batch: try form("batch", it?.batch),
      isLater: try form("later", it?.isLater), outcome: try form("outcome", it?.outcome))
  }
}

/// Whether a document existed.
private struct Existence: JSONRecord {
  var key: DocumentKey
  var existed: Bool

  static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    Existence(key: try form("path", it?.key), existed: try form("existed", it?.existed))
  }
}

extension AnsweredWrite: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let known = it.map { $0.existed.sorted { $0.key < $1.key }.map { Existence(key: $0.key, existed: $0.value) } }
    return AnsweredWrite(
      batch: try form("batch", it?.batch), mutations: try form("writes", it?.mutations),
      commitTime: try form.optional("commitTime", it?.commitTime), refusal: try form.optional("refusal", it?.refusal),
      existed: Dictionary(try form("existed", known).map { ($0.key, $0.existed) }, uniquingKeysWith: { $1 }))
  }
}

// MARK: - Answers

extension JSONForm {
  /// Reads or writes the result of a request: the member `name` on success, the member `error` on failure.
  mutating func result<V: JSONFormed>(
    _ name: String, _ result: Result<V, RPCStatus>? = nil
  ) throws(JSONError) -> Result<V, RPCStatus> {
    var (value, status): (V?, RPCStatus?)
    switch result {
    case .success(let found): value = found
    case .failure(let error): status = error
    case nil: break
    }
    if let status = try optional("error", status) { return .failure(status) }
    if let value = try optional(name, value) { return .success(value) }
    throw error("Expected \"\(name)\" or \"error\".")
  }
}

// MARK: - Events

extension ClientEvent: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .listenerStarted(let state):
      try form.members(of: state)
      return "listener-started"
    case .snapshot(let snapshot):
      try form.members(of: snapshot)
      return "snapshot"
    case .listenerFailed(let tag, let status):
      try form("listener", tag)
      try form("error", status)
      return "listener-failed"
    case .listenerStopped(let tag):
      try form("listener", tag)
      return "listener-stopped"
    case .snapshotsMissed(let count, let results):
      try form("snapshots", count)
      try form(
        "listeners",
        results.sorted { $0.key < $1.key }.map { MissedResult(listener: $0.key, result: $0.value) })
      return "snapshots-missed"
    case .faults(let settings, let waiting):
      try form.members(of: settings)
      try form.optional("waiting", waiting.isEmpty ? nil : waiting)
      return "faults"
    case .traffic(let event):
      try form.members(of: event)
      return "traffic"
    case .closed: return "closed"
    case .attachmentEnded(let reason):
      try form.text("reason", reason)
      return "attachment-ended"
    case .requestFailed(let status):
      try form("error", status)
      return "request-failed"
    case .windowLoaded(let tag, let documents, let isFromCache, let total):
      try form("window", tag)
      try form("documents", documents)
      try form("fromCache", isFromCache)
      try form.optional("total", total)
      return "window"
    case .windowFailed(let tag, let status):
      try form("window", tag)
      try form("error", status)
      return "window-failed"
    case .searched(let tag, let news):
      try form("window", tag)
      try form.members(of: news)
      return "searched"
    case .located(let tag, let key, let count):
      try form("window", tag)
      try form.optional("path", key)
      try form.optional("cachedCount", count)
      return "located"
    case .collections(let parent, let ids):
      try form("below", parent)
      try form("ids", ids.map { ResourcePath($0) })
      return "collections"
    case .collectionsUnlisted(let parent, let status):
      try form("below", parent)
      try form("error", status)
      return "collections-unlisted"
    case .missingDocuments(let collection, let keys):
      try form("in", collection)
      try form("paths", keys)
      return "missing-documents"
    case .counted(let path, let count, let isFromCache):
      try form("collection", path)
      try form("count", count)
      try form("fromCache", isFromCache)
      return "counted"
    case .committed(.everything): return "committed"
    case .committed(.collections(let notices)):
      try form("collections", notices)
      return "committed"
    case .commitsUnheard(let reason):
      try form.text("reason", reason)
      return "commits-unheard"
    case .status(let status):
      try form.members(of: status)
      return "status"
    case .reads(let meters):
      try form("targets", meters)
      return "reads"
    case .storage(let notice):
      try form.members(of: notice)
      return "storage"
    case .peers(let peers):
      try form.members(of: peers)
      return "company"
    case .pendingWrites(let writes, let size):
      try form("writes", writes)
      try form.optional("of", size)
      return "pending"
    case .writeAcknowledged(let batch, let after, let documents):
      try form("batch", batch)
      try form.optional("after", after)
      try form.optional("documents", documents)
      return "acknowledged"
    case .writeRejected(let batch, let status):
      try form("batch", batch)
      try form("error", status)
      return "rejected"
    case .writeCancelled(let batch):
      try form("batch", batch)
      return "cancelled"
    case .outcomesMissed(let count):
      try form("writes", count)
      return "outcomes-missed"
    case .rejectedWrites(let writes):
      try form("writes", writes)
      return "rejected-writes"
    case .rejectedWritesForgotten(let batches):
      try form("batches", batches)
      return "rejected-writes-forgotten"
    case .detail(let key, let remote, let overlay, let local, let isFromCache):
      try form("path", key)
      try form.optional("server", remote)
      try form.optional("overlay", overlay)
      try form.optional("local", local)
      try form.optional("fromCache", isFromCache)
      return "document"
    case .detailFailed(let key, let status):
      try form("path", key)
      try form("error", status)
      return "document-failed"
    case .conflict(let conflict):
      try form.members(of: conflict)
      return "conflict"
    case .answered(let write):
      try form.members(of: write)
      return "answered"
    case .contested(let conflict):
      try form.members(of: conflict)
      return "contested"
    case .explained(let query, let result):
      try form("query", query)
      _ = try form.result("explanation", result)
      return "explained"
    case .decisions(let result):
      _ = try form.result("decisions", result)
      return "decisions"
    case .inside(let result):
      _ = try form.result("inside", result)
      return "inside"
    case .surveyed(let result):
      _ = try form.result("survey", result)
      return "surveyed"
    case .fieldTypes(let path, let result):
      try form("in", path)
      _ = try form.result("types", result)
      return "field-types"
    case .previewed(let query, let result):
      try form("query", query)
      _ = try form.result("preview", result)
      return "previewed"
    case .indexes(let indexes):
      try form("indexes", indexes)
      return "indexes"
    case .retentions(let retentions):
      try form("retentions", retentions)
      return "retentions"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "listener-started": return .listenerStarted(try form.members())
    case "snapshot": return .snapshot(try form.members())
    case "listener-failed": return .listenerFailed(try form("listener"), try form("error"))
    case "listener-stopped": return .listenerStopped(try form("listener"))
    case "snapshots-missed":
      let results: [MissedResult] = try form("listeners")
      return .snapshotsMissed(
        try form("snapshots"),
        Dictionary(results.map { ($0.listener, $0.result) }, uniquingKeysWith: { $1 }))
    case "faults": return .faults(try form.members(), waiting: try form.optional("waiting") ?? [])
    case "traffic": return .traffic(try form.members())
    case "closed": return .closed
    case "request-failed": return .requestFailed(try form("error"))
    case "attachment-ended": return .attachmentEnded(try form.text("reason"))
    case "window":
      return .windowLoaded(
        try form("window"), try form("documents"), isFromCache: try form("fromCache"), total: try form.optional("total")
      )
    case "window-failed": return .windowFailed(try form("window"), try form("error"))
    case "searched": return .searched(try form("window"), try form.members())
    case "located":
      return .located(try form("window"), try form.optional("path"), cachedCount: try form.optional("cachedCount"))
    case "collections":
      let ids: [ResourcePath] = try form("ids")
      return .collections(below: try form("below"), ids.map(\.text))
    case "collections-unlisted": return .collectionsUnlisted(below: try form("below"), try form("error"))
    case "missing-documents": return .missingDocuments(in: try form("in"), try form("paths"))
    case "counted":
      return .counted(try form("collection"), try form("count"), isFromCache: try form("fromCache"))
    case "committed":
      let notices: [CollectionNotice]? = try form.optional("collections")
      return .committed(notices.map { .collections($0) } ?? .everything)
    case "commits-unheard": return .commitsUnheard(try form.text("reason"))
    case "status": return .status(try form.members())
    case "reads": return .reads(try form("targets"))
    case "storage": return .storage(try form.members())
    case "company": return .peers(try form.members())
    case "pending": return .pendingWrites(try form("writes"), of: try form.optional("of"))
    case "acknowledged":
      return .writeAcknowledged(
        try form("batch"), after: try form.optional("after"), of: try form.optional("documents"))
    case "rejected": return .writeRejected(try form("batch"), try form("error"))
    case "cancelled": return .writeCancelled(try form("batch"))
    case "outcomes-missed": return .outcomesMissed(try form("writes"))
    case "rejected-writes": return .rejectedWrites(try form("writes"))
    case "rejected-writes-forgotten": return .rejectedWritesForgotten(try form("batches"))
    case "document":
      return .detail(
        try form("path"), remote: try form.optional("server"), overlay: try form.optional("overlay"),
        local: try form.optional("local"), isFromCache: try form.optional("fromCache"))
    case "document-failed": return .detailFailed(try form("path"), try form("error"))
    case "conflict": return .conflict(try form.members())
    case "answered": return .answered(try form.members())
    case "contested": return .contested(try form.members())
    case "explained": return .explained(try form("query"), try form.result("explanation"))
    case "decisions": return .decisions(try form.result("decisions"))
    case "inside": return .inside(try form.result("inside"))
    case "surveyed": return .surveyed(try form.result("survey"))
    case "field-types": return .fieldTypes(in: try form("in"), try form.result("types"))
    case "previewed": return .previewed(try form("query"), try form.result("preview"))
    case "indexes": return .indexes(try form("indexes"))
    case "retentions": return .retentions(try form("retentions"))
    default: return nil
    }
  }
}
