// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreJSON
import FirestoreModel
import FirestoreQuery

// The messages between a watched program and its watchers.

extension InspectionGreeting.BackendKind: JSONFormed {}

extension InspectionGreeting: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    // The first three members stay the same in every version.
    let version: Int = try form("hearth", it?.hearth)
    var greeting = InspectionGreeting(
      process: try form("process", it?.process), name: try form.word("name", it?.name),
      database: try form("database", it?.database), backend: try form("backend", it?.backend),
      host: try form.optionalWord("host", it?.host), isTLS: try form("tls", it?.isTLS),
      since: try form("since", it?.since),
      listeners: try form("listeners", it?.listeners), watchers: try form("watchers", it?.watchers))
    greeting.hearth = version
    return greeting
  }
}

extension InspectionGreeting.Core: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    InspectionGreeting.Core(
      hearth: try form("hearth", it?.hearth), process: try form("process", it?.process),
      name: try form.word("name", it?.name))
  }
}

extension InspectionWord: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let version: Int = try form("hearth", it?.hearth)
    var word = InspectionWord(control: try form("control", it?.control))
    word.hearth = version
    return word
  }
}

extension InspectionRequest: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .documents(let query):
      try form("query", query)
      return "documents"
    case .locate(let query, let offset):
      try form("query", query)
      try form("offset", offset)
      return "locate"
    case .collections(let parent):
      try form("below", parent)
      return "collections"
    case .count(let path):
      try form("collection", path)
      return "count"
    case .layers(let key):
      try form("path", key)
      return "document"
    case .explain(let query):
      try form("query", query)
      return "explain"
    case .preview(let query):
      try form("query", query)
      return "preview"
    case .inside: return "inside"
    case .survey: return "survey"
    case .setNetwork(let isEnabled):
      try form("enabled", isEnabled)
      return "network"
    case .retryNow: return "retry"
    case .cancelWrite(let batch):
      try form("batch", batch)
      return "cancel"
    case .resend(let batch):
      try form("batch", batch)
      return "resend"
    case .dropRejected(let batches):
      try form("batches", batches)
      return "drop"
    case .setFaults(let settings):
      try form.members(of: settings)
      return "faults"
    case .injectFault(let fault):
      try form("fault", fault)
      return "write-fault"
    case .causeFault(let event):
      try form("event", event)
      return "fault"
    case .restart(let kind):
      try form("stream", kind)
      return "restart"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "documents": .documents(try form("query"))
    case "locate": .locate(try form("query"), offset: try form("offset"))
    case "collections": .collections(below: try form("below"))
    case "count": .count(try form("collection"))
    case "document": .layers(try form("path"))
    case "explain": .explain(try form("query"))
    case "preview": .preview(try form("query"))
    case "inside": .inside
    case "survey": .survey
    case "network": .setNetwork(try form("enabled"))
    case "retry": .retryNow
    case "cancel": .cancelWrite(try form("batch"))
    case "resend": .resend(try form("batch"))
    case "drop": .dropRejected(try form("batches"))
    case "faults": .setFaults(try form.members())
    case "write-fault": .injectFault(try form("fault"))
    case "fault": .causeFault(try form("event"))
    case "restart": .restart(try form("stream"))
    default: nil
    }
  }
}

extension NumberedRequest: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    NumberedRequest(try form("number", it?.number), try form("request", it?.request))
  }
}

extension InspectionAnswer: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .done: return "done"
    case .failed(let status):
      try form("error", status)
      return "failed"
    case .documents(let documents):
      try form("documents", documents)
      return "documents"
    case .located(let key, let count):
      try form.optional("path", key)
      try form("count", count)
      return "located"
    case .collections(let ids):
      try form("ids", ids.map { ResourcePath($0) })
      return "collections"
    case .count(let count):
      try form.optional("count", count)
      return "count"
    case .layers(let remote, let overlay, let local):
      try form.optional("server", remote)
      try form.optional("overlay", overlay)
      try form.optional("local", local)
      return "document"
    case .explanation(let explanation):
      try form.members(of: explanation)
      return "explanation"
    case .preview(let preview):
      try form.members(of: preview)
      return "preview"
    case .inside(let inside):
      try form.members(of: inside)
      return "inside"
    case .survey(let survey):
      try form.members(of: survey)
      return "survey"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "done": return .done
    case "failed": return .failed(try form("error"))
    case "documents": return .documents(try form("documents"))
    case "located": return .located(try form.optional("path"), count: try form("count"))
    case "collections":
      let ids: [ResourcePath] = try form("ids")
      return .collections(ids.map(\.text))
    case "count": return .count(try form.optional("count"))
    case "document":
      return .layers(
        remote: try form.optional("server"), overlay: try form.optional("overlay"), local: try form.optional("local"))
    case "explanation": return .explanation(try form.members())
    case "preview": return .preview(try form.members())
    case "inside": return .inside(try form.members())
    case "survey": return .survey(try form.members())
    default: return nil
    }
  }
}

extension InspectedStatus: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    InspectedStatus(
      try form.members(of: it?.status), omitting: Set(try form.optional("omitted", it?.omittedParts) ?? []))
  }
}

extension InspectedStatus.Part: JSONFormed {}

extension InspectionNews: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .listener(let state):
      try form.members(of: state)
      return "listener"
    case .snapshot(let snapshot):
      try form.members(of: snapshot)
      return "snapshot"
    case .ended(let listener, let status):
      try form("listener", listener)
      try form.optional("error", status)
      return "stopped"
    case .missed(let count, let results):
      try form("snapshots", count)
      try form(
        "listeners",
        results.sorted { $0.key < $1.key }.map { MissedResult(listener: ListenerTag($0.key), result: $0.value) })
      return "missed"
    case .status(let status):
      try form.members(of: status)
      return "status"
    case .cacheProblem(let problem):
      try form.text("problem", problem)
      return "cache"
    case .faults(let settings):
      try form.members(of: settings)
      return "faults"
    case .answer(let number, let answer):
      try form("to", number)
      try form("answer", answer)
      return "answer"
    case .refused(let reason):
      try form.text("reason", reason)
      return "refused"
    case .closed: return "closed"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "listener": return .listener(try form.members())
    case "snapshot": return .snapshot(try form.members())
    case "stopped": return .ended(listener: try form("listener"), try form.optional("error"))
    case "missed":
      let results: [MissedResult] = try form("listeners")
      return .missed(
        snapshots: try form("snapshots"),
        Dictionary(results.map { ($0.listener.rawValue, $0.result) }, uniquingKeysWith: { $1 }))
    case "status": return .status(try form.members())
    case "cache": return .cacheProblem(try form.text("problem"))
    case "faults": return .faults(try form.members())
    case "answer": return .answer(to: try form("to"), try form("answer"))
    case "refused": return .refused(try form.text("reason"))
    case "closed": return .closed
    default: return nil
    }
  }
}
