// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreJSON
import FirestoreModel

// Imports, exports and rules decisions.

extension TransferRequest: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .export(let paths, let file, let replaces):
      try form.optional("paths", paths)
      try form.word("file", file)
      try form("replaces", replaces)
      return "export"
    case .importing(let file, let collection):
      try form.word("file", file)
      try form.optional("into", collection)
      return "import"
    case .bundle(let contents, let file, let replaces):
      try form("contents", contents)
      try form.word("file", file)
      try form("replaces", replaces)
      return "bundle"
    case .freezing(let path, let file, let replaces):
      try form.optional("path", path)
      try form.word("file", file)
      try form("replaces", replaces)
      return "freeze"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "export":
      .export(try form.optional("paths"), file: try form.word("file"), replaces: try form("replaces"))
    case "import": .importing(file: try form.word("file"), into: try form.optional("into"))
    case "bundle": .bundle(try form("contents"), file: try form.word("file"), replaces: try form("replaces"))
    case "freeze": .freezing(try form.optional("path"), file: try form.word("file"), replaces: try form("replaces"))
    default: nil
    }
  }
}

extension BundleContents: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .documents(let keys):
      try form("paths", keys)
      return "documents"
    case .result(let query, let name):
      try form("query", query)
      try form.text("name", name)
      return "result"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "documents": .documents(try form("paths"))
    case "result": .result(try form("query"), name: try form.text("name"))
    default: nil
    }
  }
}

extension TransferState: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    TransferState(
      try form("request", it?.request), documents: try form("documents", it?.documents),
      refused: try form("refused", it?.refused), perSecond: try form("perSecond", it?.perSecond),
      fraction: try form.optional("fraction", it?.fraction),
      secondsLeft: try form.optional("secondsLeft", it?.secondsLeft))
  }
}

extension TransferSummary.End: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .complete: return "complete"
    case .cancelled: return "cancelled"
    case .failed(let reason):
      try form.text("reason", reason)
      return "failed"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "complete": .complete
    case "cancelled": .cancelled
    case "failed": .failed(try form.text("reason"))
    default: nil
    }
  }
}

extension TransferSummary: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    TransferSummary(
      try form("request", it?.request), try form("end", it?.end), documents: try form("documents", it?.documents),
      elapsed: try form("elapsed", it?.elapsed), refused: try form.texts("refused", it?.refused),
      refusedCount: try form("refusedCount", it?.refusedCount), notes: try form.texts("notes", it?.notes))
  }
}

// MARK: Rules decisions

extension RuleDecision.SeenValue: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    RuleDecision.SeenValue(
      try form.content("expression", it?.expression, as: "expression"),
      try form.content("value", it?.value, as: "value"),
      isFailure: try form("failure", it?.isFailure))
  }
}

extension RuleDecision.Statement: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    RuleDecision.Statement(
      line: try form("line", it?.line), text: try form.content("text", it?.text, as: "rule"),
      isTrue: try form.optional("true", it?.isTrue), message: try form.text("message", it?.message),
      values: try form("values", it?.values))
  }
}

extension RuleDecision: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    RuleDecision(
      number: try form("number", it?.number), time: try form("time", it?.time),
      method: try form.word("method", it?.method), path: try form("path", it?.path),
      user: try form.optionalContent("user", it?.user, as: "user"),
      isAllowed: try form("allowed", it?.isAllowed), line: try form.optional("line", it?.line),
      reason: try form.text("reason", it?.reason), milliseconds: try form.optional("milliseconds", it?.milliseconds),
      statements: try form.optional("statements", it?.statements))
  }
}
