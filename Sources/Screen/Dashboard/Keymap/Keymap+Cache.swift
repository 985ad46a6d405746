// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText

/// The commands that load documents into the cache and evict them.
extension Keymap {
  static let cache: [Command] = [bundle, freeze, pin, evict, purge, lifetime]

  private static let bundle = Command(
    "bundle", "", in: .screen, "write the selection as a bundle that fills clients' caches",
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
    "pin", "", in: .screen, "pin the selection in the cache, also after this session, or unpin it",
    title: Wording { state in "pin " + (state.bundledContents?.text ?? "the selection") },
    run: { $0.togglePin($0.selectedQueries) }
  ).taking(
    CommandArgument(
      name: "QUERY", hint: "orders, orders/abc or orders where state == done; default: the selection",
      isOptional: true,
      completions: { _, state in state.knownPaths },
      read: { text, state throws(TextError) in
        let queries = [try QueryLine.parse(text, in: state.configuration.database)]
        let what = state.pinText(queries)
        let account = state.arePinned(queries) ? "no longer keep \(what) in the cache" : "keep \(what) in the cache"
        return CommandArgument.Meaning(account: account) { $0.togglePin(queries) }
      }))

  private static let evict = Command(
    "evict", "", in: .screen, "evict the selection from the cache, unless something listens to it",
    title: Wording { state in "evict " + (state.evictedPath?.text ?? "the selection") },
    run: { $0.evictSelected() }
  ).taking(
    CommandArgument(
      name: "QUERY", hint: "orders, orders where total < 10, orders older than 2h, or older than 1h30m for everything",
      isOptional: true,
      completions: { text, state in
        text.contains(" ") ? [] : state.knownPaths.flatMap { [$0, $0 + " older than 2h"] } + ["older than 2h"]
      },
      read: { text, state throws(TextError) in
        let (scope, age) = try RequestText(in: state.configuration.database).eviction(text)
        return CommandArgument.Meaning(account: EvictionText.account(of: scope, age)) {
          $0.evict(scope, olderThan: age)
        }
      }))

  private static let purge = Command(
    "purge", "", in: .screen, "remove the tombstones of missing documents from the cache, for all collections",
    title: "purge the tombstones of missing documents",
    run: { $0.evict(.tombstones(nil)) }
  ).taking(
    CommandArgument(
      name: "PATH", hint: "orders, orders older than 2h, or older than 2h for all collections", isOptional: true,
      completions: { text, state in
        text.contains(" ") ? [] : state.knownPaths.flatMap { [$0, $0 + " older than 2h"] } + ["older than 2h"]
      },
      read: { text, state throws(TextError) in
        let (rest, age) = try RequestText.age(in: text)
        let scope = EvictionScope.tombstones(rest.isEmpty ? nil : try state.cachedPath(rest))
        return CommandArgument.Meaning(account: EvictionText.account(of: scope, age)) {
          $0.evict(scope, olderThan: age)
        }
      }))

  private static let lifetime = Command(
    "lifetime", "evict documents of a collection or query some time after their last sync",
    CommandArgument(
      name: "QUERY TIME",
      hint: "orders 2h, or orders where state == done 2h; off instead of the time ends it",
      completions: { text, state in
        let lifetimes = state.storage.retentions.filter { $0.lifetime != nil }.map {
          "\(QueryText.line($0.target)) off"
        }
        return text.contains(" ") ? lifetimes : lifetimes + (state.browser.roots ?? []).map { $0 + " 2h" }
      },
      read: { text, state throws(TextError) in
        let words = text.split(separator: " ")
        guard words.count >= 2, let last = words.last else {
          throw TextError(column: 1, "use: orders 2h, or orders off")
        }
        let query = try QueryLine.parse(String(text[..<last.startIndex]).trimmed, in: state.configuration.database)
        if query.isDocumentQuery { throw TextError(column: 1, "lifetimes are for collections and queries") }
        if query.limit != nil { throw TextError(column: 1, "a lifetime has no limit: it applies to all matches") }
        let time = last == "off" ? nil : try DurationText.parse(String(last))
        let what = QueryText.line(query)
        let account = time.map { "evict \(what) after \(DurationText.text($0))" }
        return CommandArgument.Meaning(account: account ?? "keep \(what) in the cache") {
          $0.setLifetime(time, of: query)
        }
      }))

  private static let freeze = Command(
    "freeze", "", in: .screen, "write the cache to a file, also offline: FILE.jsonl or FILE.bundle",
    title: "freeze the cache in a file",
    unless: { $0.storage.transfers.running.map { "\($0.request.title) is still running" } },
    change: { $0.askForFreezing() }
  ).taking(
    CommandArgument(
      name: "FILE", hint: "cache.jsonl for hearth import, cache.bundle for loadBundle; 'FILE of orders' for a part",
      isOptional: true,
      read: { text, state throws(TextError) in
        let mark = text.firstRange(of: " of ")
        let file = String(text[..<(mark?.lowerBound ?? text.endIndex)]).trimmed
        guard !file.isEmpty else { throw TextError(column: 1, "name the file first") }
        var path: ResourcePath?
        if let mark { path = try state.cachedPath(String(text[mark.upperBound...]).trimmed) }
        let request = TransferRequest.freezing(path, file: file)
        return CommandArgument.Meaning(account: "write \(path?.text ?? "the cache") to \(file)") {
          $0.start(request)
        }
      }))
}
