// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreClientState
package import FirestoreJSON
import FirestoreModel

// Edits, and conflicts between writes.

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
