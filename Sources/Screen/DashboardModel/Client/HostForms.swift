// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreClientState
package import FirestoreJSON
import FirestoreModel
import FirestoreQuery

extension Toast.Kind: JSONFormed {}

extension HostEvent: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .editConflict(let conflict):
      try form.members(of: conflict)
      return "edit-conflict"
    case .undoConflict(let conflict):
      try form.members(of: conflict)
      return "undo-conflict"
    case .editorFailed(let request, let line, let column, let reason):
      try form("request", request)
      try form("line", line)
      try form("column", column)
      try form.content("reason", reason, as: "reason")
      return "editor-failed"
    case .editorGaveUp(let reason):
      try form.text("reason", reason)
      return "editor-gave-up"
    case .created(let key):
      try form("path", key)
      return "created"
    case .listenersRead(let definitions, let file):
      try form("listeners", definitions)
      try form.word("from", file)
      return "listeners-read"
    case .question(let title, let body, let action, _):
      // The effects wait in this program and are not part of a recording.
      try form.text("title", title)
      try form.texts("body", body)
      try form.word("action", action)
      return "question"
    case .notice(let kind, let text):
      try form("kind", kind)
      try form.text("text", text)
      return "notice"
    case .marked(let text):
      try form.text("text", text)
      return "marked"
    case .stepped(let line):
      try form("line", line)
      return "stepped"
    case .transferring(let transfer):
      try form.members(of: transfer)
      return "transferring"
    case .transferred(let account):
      try form.members(of: account)
      return "transferred"
    case .dataElsewhere(let other):
      try form.optional("database", other)
      return "data-elsewhere"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "edit-conflict": return .editConflict(try form.members())
    case "undo-conflict": return .undoConflict(try form.members())
    case "editor-failed":
      return .editorFailed(
        try form("request"), line: try form("line"), column: try form("column"),
        reason: try form.content("reason", as: "reason"))
    case "editor-gave-up": return .editorGaveUp(try form.text("reason"))
    case "created": return .created(try form("path"))
    case "listeners-read": return .listenersRead(try form("listeners"), from: try form.word("from"))
    case "question":
      return .question(
        title: try form.text("title"), body: try form.texts("body"), action: try form.word("action"), HeldEffects([]))
    case "notice": return .notice(try form("kind"), try form.text("text"))
    case "marked": return .marked(try form.text("text"))
    case "stepped": return .stepped(line: try form("line"))
    case "transferring": return .transferring(try form.members())
    case "transferred": return .transferred(try form.members())
    case "data-elsewhere": return .dataElsewhere(try form.optional("database"))
    default: return nil
    }
  }
}

extension OtherDatabase: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    OtherDatabase(
      name: try form.word("name", it?.name), options: try form.word("options", it?.options),
      count: try form("count", it?.count))
  }
}

// MARK: - Listeners

extension ListenerDefinition: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ListenerDefinition(
      name: try form.text("name", it?.name), query: try form("query", it?.query),
      options: try form("options", it?.options))
  }
}

extension ListenerRecord: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var record = ListenerRecord(
      tag: try form("listener", it?.tag), name: try form.text("name", it?.name), query: try form("query", it?.query),
      options: try form("options", it?.options))
    record.isFromCache = try form("fromCache", it?.isFromCache)
    record.hasPendingWrites = try form("pendingWrites", it?.hasPendingWrites)
    record.count = try form.optional("count", it?.count)
    record.failure = try form.optional("error", it?.failure)
    return record
  }
}
