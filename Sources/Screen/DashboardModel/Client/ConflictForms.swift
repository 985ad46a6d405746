// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreClientState
package import FirestoreJSON
import FirestoreModel

// Edits, and conflicts between writes.

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

extension EditRequest.Subject: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .document(let key):
      try form("path", key)
      return "document"
    case .newDocument(let path):
      try form("path", path)
      return "new-document"
    case .documentToCreate(let key):
      try form("path", key)
      return "document-to-create"
    case .rejectedWrite(let batch):
      try form("batch", batch)
      return "rejected-write"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "document": .document(try form("path"))
    case "new-document": .newDocument(in: try form("path"))
    case "document-to-create": .documentToCreate(try form("path"))
    case "rejected-write": .rejectedWrite(try form("batch"))
    default: nil
    }
  }
}

extension EditRequest: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    EditRequest(
      try form("subject", it?.subject), text: try form.content("text", it?.text, as: "text"),
      original: try form.content("original", it?.original, as: "text"))
  }
}

extension EditConflict.Again: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .text(let request):
      try form("request", request)
      return "text"
    case .fields(let fields):
      try form.optional("over", fields)
      return "fields"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "text": .text(try form("request"))
    case "fields": .fields(over: try form.optional("over"))
    default: nil
    }
  }
}

extension EditConflict: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    EditConflict(
      key: try form("path", it?.key), fields: try form("fields", it?.fields),
      isDeleted: try form("deleted", it?.isDeleted),
      overwriting: try form("overwriting", it?.overwriting),
      keepingTheirs: try form("keepingTheirs", it?.keepingTheirs),
      replacing: try form("replacing", it?.replacing), again: try form("again", it?.again))
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

extension UndoConflict: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    UndoConflict(
      batch: try form("batch", it?.batch), isRedo: try form("redo", it?.isRedo),
      documents: try form("documents", it?.documents))
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
