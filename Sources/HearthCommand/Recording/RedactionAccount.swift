// SPDX-License-Identifier: Apache-2.0
import Spelling
import Synchronization

/// Which fields a redaction has met, and which of them it has taken values out of.
final class RedactionAccount: Sendable {
  private let names = Mutex((met: Set<String>(), hidden: Set<String>()))

  func meet(_ name: String, isHidden: Bool) {
    names.withLock { names in
      names.met.insert(name)
      if isHidden { names.hidden.insert(name) }
    }
  }

  /// What was taken out, for people.
  var text: String {
    let hidden = names.withLock { $0.hidden.sorted() }
    if hidden.isEmpty { return "no values of fields were there to be taken out." }
    let more = hidden.count > 12 ? " and \(hidden.count - 12) more" : ""
    return "the values of \(hidden.prefix(12).joined(separator: ", "))\(more) are taken out."
  }

  /// - Parameter wanted: the fields whose values were to go.
  /// - Throws: for one that is nowhere: what was to be hidden is still there under its right name.
  func check(_ wanted: [String]) throws(CommandFailure) {
    let met = names.withLock { $0.met }
    for name in wanted where name != "*" && !met.contains(name) {
      let hint = NearestName.suggestion(for: name, among: met).map { " Did you mean \($0)?" } ?? ""
      throw CommandFailure(.badData, "no field \(name) is in the recording, so nothing was written.\(hint)")
    }
  }
}
