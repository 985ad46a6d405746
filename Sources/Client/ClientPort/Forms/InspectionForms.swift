// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreJSON
import FirestoreModel
import FirestoreQuery

// The messages between a watched program and its watchers.

extension InspectionGreeting.BackendKind: JSONFormed {}

extension InspectionGreeting: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    // The first three members must stay the same in every version.
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
