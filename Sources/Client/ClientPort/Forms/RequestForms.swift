// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreJSON
import FirestoreModel
import FirestoreQuery

// The JSON form of each request. A new request needs a case in `ClientRequest`, and lines in `write` and `read` below.

extension SearchRequest: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    SearchRequest(
      try form("query", it?.query), try form.content("filter", it?.filter, as: "filter"),
      in: try form("database", it?.database))
  }
}

extension FieldEdit.Subject: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .document(let key):
      try form("path", key)
      return "document"
    case .documentToCreate(let key):
      try form("path", key)
      return "document-to-create"
    case .newDocument(let path):
      try form("path", path)
      return "new-document"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "document": .document(try form("path"))
    case "document-to-create": .documentToCreate(try form("path"))
    case "new-document": .newDocument(in: try form("path"))
    default: nil
    }
  }
}

/// The form of an edit. The member `write` contains the equivalent write: the fields after the edit and the transforms.
extension FieldEdit: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let subject = try form("subject", it?.subject)
    let base = try form("saw", it?.base)
    let written: Mutation = try form("write", it?.whole)
    guard case .set(let fields) = written.operation else { throw form.error("\"write\" must set a document.") }
    return FieldEdit(
      subject: subject, base: base, fields: fields, transforms: written.transforms,
      replaces: try form("replaces", it?.replaces))
  }

  /// The write of the whole document.
  private var whole: Mutation {
    let key =
      switch subject {
      case .document(let key), .documentToCreate(let key): key
      // The document's id is chosen when it is written.
      case .newDocument(let path): DocumentKey(unchecked: path.appending("new"))
      }
    return Mutation(key: key, operation: .set(fields), transforms: transforms)
  }
}

extension EvictionScope: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .everything: return "everything"
    case .path(let path):
      try form("path", path)
      return "path"
    case .matching(let query):
      try form("query", query)
      return "matching"
    case .tombstones(let path):
      try form.optional("path", path)
      return "tombstones"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "everything": .everything
    case "path": .path(try form("path"))
    case "matching": .matching(try form("query"))
    case "tombstones": .tombstones(try form.optional("path"))
    default: nil
    }
  }
}

extension UndoConflict.Writing.Operation: JSONFormed {}

extension UndoConflict.Document: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    UndoConflict.Document(
      key: try form("path", it?.key), left: try form.optional("left", it?.left), now: try form.optional("now", it?.now),
      writing: UndoConflict.Writing(
        try form("operation", it?.writing.operation), try form("fields", it?.writing.fields)))
  }
}

extension UndoConflict.Restored: JSONFormed {}

extension UndoConflict: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    UndoConflict(
      batch: try form("batch", it?.batch), isRedo: try form("redo", it?.isRedo),
      documents: try form("documents", it?.documents), conflicts: try form("conflicts", it?.conflicts),
      restored: try form("restored", it?.restored))
  }
}

// MARK: - Requests

extension ClientRequest: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .listen(let tag, let query, let options):
      try form("listener", tag)
      try form("query", query)
      try form("options", options)
      return "listen"
    case .unlisten(let tag):
      try form("listener", tag)
      return "unlisten"
    case .openWindow(let tag, let query):
      try form("window", tag)
      try form("query", query)
      return "open-window"
    case .closeWindow(let tag):
      try form("window", tag)
      return "close-window"
    case .ask(let tag, let query):
      try form("window", tag)
      try form("query", query)
      return "ask"
    case .search(let tag, let request):
      try form("window", tag)
      try form.members(of: request)
      return "search"
    case .locate(let tag, let query, let offset):
      try form("window", tag)
      try form("query", query)
      try form("offset", offset)
      return "locate"
    case .listCollections(let parent):
      try form("below", parent)
      return "list-collections"
    case .listMissing(let path):
      try form("in", path)
      return "list-missing"
    case .count(let path):
      try form("collection", path)
      return "count"
    case .openDetail(let key):
      try form("path", key)
      return "open-document"
    case .closeDetail(let key):
      try form("path", key)
      return "close-document"
    case .setNetwork(let isEnabled):
      try form("enabled", isEnabled)
      return "network"
    case .write(let mutations):
      try form("writes", mutations)
      return "write"
    case .edit(let edit):
      try form.members(of: edit)
      return "edit"
    case .cancelWrite(let batch):
      try form("batch", batch)
      return "cancel"
    case .setWriteAside(let batch):
      try form("batch", batch)
      return "set-aside"
    case .undo(let conflict):
      try form.optional("over", conflict)
      return "undo"
    case .redo(let conflict):
      try form.optional("over", conflict)
      return "redo"
    case .resend(let batch, let mutations):
      try form("batch", batch)
      try form.optional("as", mutations)
      return "resend"
    case .dropRejected(let batches):
      try form("batches", batches)
      return "drop"
    case .retryNow: return "retry"
    case .explain(let query):
      try form("query", query)
      return "explain"
    case .preview(let query):
      try form("query", query)
      return "preview"
    case .createIndexes(let query):
      try form("query", query)
      return "create-indexes"
    case .deleteIndexes: return "delete-indexes"
    case .setIndexAutoCreation(let isEnabled):
      try form("enabled", isEnabled)
      return "index-creation"
    case .transfer(let request):
      try form("transfer", request)
      return "transfer"
    case .cancelTransfer: return "cancel-transfer"
    case .listDecisions(let known):
      try form.optional("after", known)
      return "list-decisions"
    case .setFaults(let settings):
      try form.members(of: settings)
      return "faults"
    case .causeFault(let event):
      try form("event", event)
      return "fault"
    case .lookInside: return "inside"
    case .surveyCache: return "survey"
    case .countFieldTypes(let path):
      try form("in", path)
      return "field-types"
    case .evict(let scope, let age):
      try form("scope", scope)
      try form.optional("olderThan", age)
      return "evict"
    case .applyLifetimes: return "apply-lifetimes"
    case .retain(let retention):
      try form("retention", retention)
      return "retain"
    case .release(let retention):
      try form("retention", retention)
      return "release"
    case .restartStream(let kind):
      try form("stream", kind)
      return "restart"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "listen": .listen(try form("listener"), try form("query"), try form("options"))
    case "unlisten": .unlisten(try form("listener"))
    case "open-window": .openWindow(try form("window"), try form("query"))
    case "close-window": .closeWindow(try form("window"))
    case "ask": .ask(try form("window"), try form("query"))
    case "search": .search(try form("window"), try form.members())
    case "locate": .locate(try form("window"), try form("query"), offset: try form("offset"))
    case "list-collections": .listCollections(below: try form("below"))
    case "list-missing": .listMissing(in: try form("in"))
    case "count": .count(try form("collection"))
    case "open-document": .openDetail(try form("path"))
    case "close-document": .closeDetail(try form("path"))
    case "network": .setNetwork(enabled: try form("enabled"))
    case "write": .write(try form("writes"))
    case "edit": .edit(try form.members())
    case "cancel": .cancelWrite(try form("batch"))
    case "set-aside": .setWriteAside(try form("batch"))
    case "undo": .undo(over: try form.optional("over"))
    case "redo": .redo(over: try form.optional("over"))
    case "resend": .resend(try form("batch"), as: try form.optional("as"))
    case "drop": .dropRejected(try form("batches"))
    case "retry": .retryNow
    case "explain": .explain(try form("query"))
    case "preview": .preview(try form("query"))
    case "create-indexes": .createIndexes(for: try form("query"))
    case "delete-indexes": .deleteIndexes
    case "index-creation": .setIndexAutoCreation(try form("enabled"))
    case "transfer": .transfer(try form("transfer"))
    case "cancel-transfer": .cancelTransfer
    case "list-decisions": .listDecisions(after: try form.optional("after"))
    case "faults": .setFaults(try form.members())
    case "fault": .causeFault(try form("event"))
    case "inside": .lookInside
    case "survey": .surveyCache
    case "field-types": .countFieldTypes(in: try form("in"))
    case "evict": .evict(try form("scope"), olderThan: try form.optional("olderThan"))
    case "apply-lifetimes": .applyLifetimes
    case "retain": .retain(try form("retention"))
    case "release": .release(try form("retention"))
    case "restart": .restartStream(try form("stream"))
    default: nil
    }
  }
}
