// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import Spelling
import Synchronization

/// The names of the fields that a redaction has met, and of those whose values it has removed.
package final class RedactionAccount: Sendable {
  private let names = Mutex((met: Set<String>(), hidden: Set<String>()))

  func meet(_ name: String, isHidden: Bool) {
    names.withLock { names in
      names.met.insert(name)
      if isHidden { names.hidden.insert(name) }
    }
  }

  /// The removed values, for people.
  package var text: String {
    let hidden = names.withLock { $0.hidden.sorted() }
    if hidden.isEmpty { return "no values of fields were there to be taken out." }
    let more = hidden.count > 12 ? " and \(hidden.count - 12) more" : ""
    return "the values of \(hidden.prefix(12).joined(separator: ", "))\(more) are taken out."
  }

  /// - Parameter wanted: the fields whose values were to be removed.
  /// - Throws: for a field that the recording does not have: the value is still there under its right name.
  package func check(_ wanted: [String]) throws(CommandFailure) {
    let met = names.withLock { $0.met }
    for name in wanted where name != "*" && !met.contains(name) {
      let hint = NearestName.suggestion(for: name, among: met).map { " Did you mean \($0)?" } ?? ""
      throw CommandFailure(.badData, "no field \(name) is in the recording, so nothing was written.\(hint)")
    }
  }
}
