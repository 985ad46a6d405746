// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel
import FirestoreQuery
import FirestoreText

/// The commands that fill and empty caches.
extension Keymap {
  static let cache: [Command] = [bundle, pin, evict]

  private static let bundle = Command(
    "bundle", "", in: .screen, "write what is selected as a bundle, from which clients fill their caches",
    title: Wording { state in "bundle " + (state.bundledContents?.text ?? "the selection") },
    unless: { $0.reasonAgainstTransfer }, change: { $0.askForBundle() }
  ).taking(
    CommandArgument(
      name: "FILE", hint: "the file to write: orders.bundle; orders.bundle of NAME is the result of a listener",
      isOptional: true,
      completions: { text, state in
        guard let mark = text.firstRange(of: " of ") else { return [] }
        return state.listeners.map { text[..<mark.upperBound] + $0.name }
      },
      read: { text, state throws(TextError) in
        let mark = text.firstRange(of: " of ")
        let file = String(text[..<(mark?.lowerBound ?? text.endIndex)]).trimmed
        let contents = try state.bundledContents(of: mark.map { String(text[$0.upperBound...]).trimmed })
        guard !file.isEmpty else { throw TextError(column: 1, "name the file first") }
        return CommandArgument.Meaning(account: "bundle \(contents.text) into \(file)") {
          $0.start(.bundle(contents, file: file))
        }
      }))

  private static let pin = Command(
    "pin", "", in: .screen, "keep in the cache what is selected until this session ends, or no longer",
    title: Wording { state in "pin " + (state.bundledContents?.text ?? "the selection") },
    run: { $0.togglePin($0.selectedQueries) }
  ).taking(
    CommandArgument(
      name: "PATH", hint: "orders or orders/abc; without it, what is selected", isOptional: true,
      completions: { _, state in state.knownPaths },
      read: { text, state throws(TextError) in
        let queries = [Query(path: try state.cachedPath(text))]
        let what = state.pinText(queries)
        let account = state.arePinned(queries) ? "no longer keep \(what) in the cache" : "keep \(what) in the cache"
        return CommandArgument.Meaning(account: account) { $0.togglePin(queries) }
      }))

  private static let evict = Command(
    "evict", "", in: .screen, "take out of the cache what is selected, unless something listens to it",
    title: Wording { state in "evict " + (state.evictedPath?.text ?? "the selection") },
    run: { $0.evictSelected() }
  ).taking(
    CommandArgument(
      name: "PATH", hint: "orders or orders/abc; without it, what is selected", isOptional: true,
      completions: { _, state in state.knownPaths },
      read: { text, state throws(TextError) in
        let path = try state.cachedPath(text)
        return CommandArgument.Meaning(account: "take \(path.text) out of the cache") { $0.evict(path) }
      }))
}
