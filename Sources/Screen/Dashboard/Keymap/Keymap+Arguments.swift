// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText
import TerminalCanvas

/// The commands that take an argument.
extension Keymap {
  static let withArgument: [Command] =
    [offline, latency, fault, client, theme, glyphs, keys, go, query, listen, stop, filter, shot] + cache
    + typedRequests

  /// The requests that can be typed as one line of text, in the syntax of `hearth plain` and of scenarios.
  private static let typedRequests: [Command] = RequestText.forms.compactMap { form in
    guard ["set", "merge", "create", "update", "delete", "online", "drop", "aside", "again"].contains(form.verb) else {
      return nil
    }
    let writes = form.verb != "online"
    if form.argument.isEmpty {
      return Command(
        form.verb, "", in: .screen, form.effect, writes: writes,
        run: { $0.perform(.request(.setNetwork(enabled: true))) })
    }
    let argument = CommandArgument(
      name: form.argument, hint: form.example,
      completions: { text, state in text.contains(" ") ? [] : state.knownPaths.filter { $0.contains("/") } },
      read: { text, state throws(TextError) in
        guard let typed = try RequestText(in: state.configuration.database).read(form.verb, text) else {
          throw TextError(column: 1, form.example)
        }
        if case .drop(let batch) = typed, state.request(dropping: batch) == nil {
          throw TextError(column: 1, "no write \(batch) is pending or was rejected")
        }
        return CommandArgument.Meaning(account: "\(form.effect): \(text)") { $0.perform(typed) }
      })
    return Command(form.verb, form.effect, argument, writes: writes)
  }

  private static let offline = Command(
    "offline", "go offline, for a while or until you go online again",
    CommandArgument(
      name: "DURATION", hint: "how long: 30s, 5m, 1h30m", isOptional: true,
      completions: { _, _ in ["10s", "30s", "1m", "5m"] },
      read: { text, _ throws(TextError) in
        let duration = try DurationText.parse(text, longest: .seconds(86_400))
        return CommandArgument.Meaning(account: "go offline, and online again after \(DurationText.text(duration))") {
          $0.goOffline(for: duration)
        }
      }),
    alone: { $0.goOffline(for: nil) })

  private static let latency = Command(
    "latency", "delay every request, answer and snapshot; 0ms ends it",
    CommandArgument(
      name: "DURATION", hint: "how much: 200ms, 2s; 0ms ends it",
      completions: { _, _ in ["0ms", "50ms", "200ms", "1s"] },
      read: { text, _ throws(TextError) in
        let duration = try DurationText.parse(text, longest: .seconds(60), allowsZero: true)
        let account = duration == .zero ? "no added latency" : "\(DurationText.text(duration)) of added latency"
        return CommandArgument.Meaning(account: account) { state in
          state.faults.settings.latency = duration
          return [.client(.setFaults(state.faults.settings))]
        }
      }))

  private static let fault = Command(
    "fault", "inject a network fault; calm ends it",
    CommandArgument(
      name: "FAULT", hint: "latency 200ms on write, loss 10%, next write drop-ack, down watch",
      completions: { text, _ in FaultText.forms.map(\.word).filter { $0.hasPrefix(text) } },
      read: { text, _ throws(TextError) in
        let change = try RequestText.fault(text)
        return CommandArgument.Meaning(account: FaultText.account(of: change)) { $0.cause(change) }
      }))

  private static let theme = Command(
    "theme", "show a theme, also at the next start",
    CommandArgument(
      name: "NAME", hint: "a theme's name", completions: { _, state in state.configuration.themes.map(\.slug) },
      read: { text, state throws(TextError) in
        guard let theme = state.configuration.themes.first(where: { $0.slug == text }) else {
          throw TextError(column: 1, "no theme is called \(text)")
        }
        return CommandArgument.Meaning(account: "theme: \(theme.name)") { $0.choose(theme: theme.slug) }
      }))

  private static let glyphs = Command(
    "glyphs", "draw in Unicode or ASCII, until the session ends",
    CommandArgument(
      name: "SET", hint: "auto, for the terminal's characters; unicode; ascii",
      completions: { _, _ in ["auto", "unicode", "ascii"] },
      read: { text, _ throws(TextError) in
        switch text {
        case "auto":
          return CommandArgument.Meaning(account: "draw with the terminal's characters") { _ in
            [.terminal(.adoptGlyphs)]
          }
        case "unicode", "ascii":
          let account = text == "ascii" ? "draw in ASCII" : "draw in Unicode"
          return CommandArgument.Meaning(account: account) { state in
            state.configuration.glyphs = text == "ascii" ? .ascii : .unicode
            return []
          }
        default: throw TextError(column: 1, "use auto, unicode or ascii")
        }
      }))

  private static let keys = Command(
    "keys", "show pressed keys on the screen, for an audience, or hide them",
    CommandArgument(
      name: "STATE", hint: "on, or off", isOptional: true,
      completions: { _, _ in ["on", "off"] },
      read: { text, _ throws(TextError) in
        guard ["on", "off"].contains(text) else { throw TextError(column: 1, "use on or off") }
        let account = text == "on" ? "show pressed keys" : "hide pressed keys"
        return CommandArgument.Meaning(account: account) { state in
          state.typing.showKeys(text == "on")
          return []
        }
      }),
    alone: { state in
      state.typing.showKeys(state.typing.pressed == nil)
      return []
    })

  private static let go = Command(
    "go", "go to a collection, a document or a row",
    CommandArgument(
      name: "PATH", hint: "orders, orders/abc, 5000 or 50%", completions: { _, state in state.knownPaths },
      read: { text, _ throws(TextError) in
        if let row = Int(text), row > 0 {
          return CommandArgument.Meaning(account: "go to row \(row)") { $0.jump(row: row) }
        }
        if text.hasSuffix("%"), let percent = Int(text.dropLast()), (0...100).contains(percent) {
          return CommandArgument.Meaning(account: "go to \(percent)%") { $0.jump(percent: percent) }
        }
        let path: ResourcePath
        do throws(ModelError) { path = try ResourcePath(validating: text) } catch {
          throw TextError(column: 1, error.message)
        }
        if let key = DocumentKey(path) {
          return CommandArgument.Meaning(account: "open the document \(text)") { $0.goTo(key) }
        }
        return CommandArgument.Meaning(account: "open the collection \(text)") { $0.openCollection(path) }
      }))

  private static let listen = Command(
    "listen", "listen to a query: cities where population >= 1000 order by name limit 10",
    CommandArgument(
      name: "QUERY", hint: "orders where status == paid order by total desc limit 5 as NAME; the name may be left out",
      completions: { text, state in state.queryCompletions(text) },
      read: { text, state throws(TextError) in
        let mark = text.ranges(of: " as ").last
        let query = try QueryLine.parse(
          mark.map { String(text[..<$0.lowerBound]) } ?? text, in: state.configuration.database)
        let isRunning = state.listeners.contains { $0.query == query && $0.failure == nil }
        if isRunning { throw TextError(column: 1, "a listener already has this query") }
        let name = mark.map { String(text[$0.upperBound...]).trimmed }
        if let mark, let name,
          let reason = name.isEmpty ? "name the listener after \"as\"" : state.reason(against: name)
        {
          throw TextError(column: text[..<mark.upperBound].unicodeScalars.count + 1, reason)
        }
        let account = "listen to \(QueryText.line(query))" + (name.map { " as \($0)" } ?? "")
        return CommandArgument.Meaning(account: account) {
          $0.listen(to: query, name: name ?? ListenerRecord.defaultName(for: query))
        }
      }))

  private static let query = Command(
    "query", "run a query once, and show the result in its order",
    CommandArgument(
      name: "QUERY", hint: "orders where total >= 10 and status == paid order by total desc limit 5",
      completions: { text, state in state.queryCompletions(text) },
      read: { text, state throws(TextError) in
        let query = try QueryLine.parse(text, in: state.configuration.database)
        return CommandArgument.Meaning(account: "run once: \(QueryText.line(query))") { $0.ask(query) }
      }))

  private static let stop = Command(
    "stop", "stop a listener",
    CommandArgument(
      name: "LISTENER", hint: "a listener's name",
      completions: { _, state in state.listeners.filter { $0.failure == nil }.map(\.name) },
      read: { text, state throws(TextError) in
        guard let listener = state.listeners.first(where: { $0.name == text && $0.failure == nil }) else {
          throw TextError(column: 1, "no listener is called \(text)")
        }
        return CommandArgument.Meaning(account: "stop listening to \(text)") { $0.stopListening(listener.tag) }
      }))

  private static let shot = Command(
    "shot", "write the screen to a file: shot FILE.svg, .ansi or .txt; its last 30 seconds: FILE.cast",
    CommandArgument(
      name: "FILE", hint: "screen.svg, screen.cast; screen.svg without email,name omits values",
      read: { text, _ throws(TextError) in
        let (file, fields) = Self.shotParts(text)
        guard !file.isEmpty, fields?.isEmpty != true else {
          throw TextError(column: 1, "name a file, and fields after \"without\": screen.svg without email,name")
        }
        let what = file.lowercased().hasSuffix(".cast") ? "the last 30 seconds of the screen" : "the screen"
        return CommandArgument.Meaning(account: "write \(what) to \(file)" + (fields.map { " without \($0)" } ?? "")) {
          _ in [.recording(.shot(file, without: fields))]
        }
      }))

  /// Splits a text such as `screen.svg without email` into the file and the names of the omitted fields.
  private static func shotParts(_ text: String) -> (file: String, fields: String?) {
    guard let mark = text.firstRange(of: " without ") else {
      let isOpen = text.hasSuffix(" without")
      return isOpen ? (String(text.dropLast(8)).trimmed, "") : (text.trimmed, nil)
    }
    return (String(text[..<mark.lowerBound]).trimmed, String(text[mark.upperBound...]).trimmed)
  }

  private static let filter = Command(
    "filter-by", "filter the pane: word !word field:>5 /re/",
    CommandArgument(
      name: "TERMS", hint: "word !word status:paid total:>=10.5 /re/",
      completions: { text, state in state.fieldCompletions(text) },
      read: { text, state throws(TextError) in
        _ = try RowFilter(text, in: state.configuration.database)
        if let reason = state.reasonAgainstFilter { throw TextError(column: 1, reason) }
        return CommandArgument.Meaning(account: "filter \(state.focus.title) by \(text)") { state in
          state.openFilter()
          state.overlay?.filterLine?.field = TextField(text)
          if let line = state.overlay?.filterLine { state.applyLiveFilter(line) }
          return state.acceptFilter()
        }
      }))
}

/// The file argument of an import or export. With this argument, the form for the file name is not shown.
extension Keymap {
  /// - Parameter paths: the paths to export; `nil` for the whole database.
  static func exportFile(_ paths: @escaping @Sendable (DashboardState) -> [ResourcePath]?) -> CommandArgument {
    CommandArgument(
      name: "FILE", hint: "the file to write, such as orders.jsonl", isOptional: true,
      read: { text, state throws(TextError) in
        let paths = paths(state)
        let what = paths.map { $0.map(\.text).joined(separator: ", ") } ?? "the whole database"
        return CommandArgument.Meaning(account: "export \(what) to \(text)") {
          $0.start(.export(paths, file: text))
        }
      })
  }

  /// - Parameter collection: the collection of plain documents; `nil` for a file that `export` wrote.
  static func importFile(_ collection: @escaping @Sendable (DashboardState) -> ResourcePath?) -> CommandArgument {
    CommandArgument(
      name: "FILE", hint: "the file to read, such as backup.jsonl", isOptional: true,
      read: { text, state throws(TextError) in
        let collection = collection(state)
        return CommandArgument.Meaning(account: "import \(text)" + (collection.map { " into \($0.text)" } ?? "")) {
          $0.start(.importing(file: text, into: collection))
        }
      })
  }
}

extension DashboardState {
  /// The paths of the collections and documents in the tree.
  var knownPaths: [String] {
    let roots = browser.roots ?? []
    let below = browser.windows.keys.map(\.text).filter { !roots.contains($0) }.sorted()
    return roots + below + browser.windows.values.flatMap(\.loaded).map(\.key).sorted().map(\.path.text)
  }

  /// Completions of a query: its collection, then its fields.
  fileprivate func queryCompletions(_ text: String) -> [String] {
    guard let path = text.split(separator: " ").first.map(String.init), text.contains(" ") else {
      return (browser.roots ?? []).flatMap { [$0] } + browser.windows.keys.map(\.text).sorted()
    }
    let head = String(text[..<(text.lastIndex(of: " ").map(text.index(after:)) ?? text.startIndex)])
    let words = ["where", "order", "by", "and", "or"]
    let before = head.split(separator: " ").last.map { $0.lowercased() } ?? ""
    guard words.contains(before) else {
      return head.split(separator: " ").count == 1 ? ["where", "order by", "limit"].map { head + $0 } : []
    }
    return fieldNames(of: ResourcePath(path)).map { head + $0 }
  }

  /// Completions of a filter: the field being typed.
  fileprivate func fieldCompletions(_ text: String) -> [String] {
    guard let path = selectedCollection, focus == .collections else { return [] }
    let head = String(text[..<(text.lastIndex(of: " ").map(text.index(after:)) ?? text.startIndex)])
    return fieldNames(of: path).map { "\(head)\($0):" }
  }

  private func fieldNames(of path: ResourcePath) -> [String] {
    (browser.statistics[path]?.fields.keys.sorted() ?? []).map { FieldPath($0).canonicalText }
  }
}

/// The argument that a command of the palette takes: `offline 30s`.
struct CommandArgument: Sendable {
  /// The meaning of an argument: its description as text, and its effect.
  struct Meaning: Sendable {
    var account: String
    var run: @Sendable (inout DashboardState) -> [Effect]
  }

  /// The name of the argument in help: `DURATION`.
  let name: String
  /// A description with examples, shown until the user types.
  let hint: String
  /// Whether the command can run without the argument.
  var isOptional = false
  /// Completions of the typed text. Each is the whole text, not only the missing part.
  var completions: @Sendable (String, DashboardState) -> [String] = { _, _ in [] }
  /// Parses the text. Throws `TextError`, the reason why it is invalid.
  let read: @Sendable (String, DashboardState) throws(TextError) -> Meaning

  /// The description of what the command does with a complete text; empty while the text is incomplete.
  func effect(_ text: String, _ state: DashboardState) -> String {
    do throws(TextError) { return try read(text, state).account } catch { return "" }
  }
}

extension Command {
  /// A copy of the command that takes an argument in the palette.
  func taking(_ argument: CommandArgument) -> Command {
    var command = self
    command.argument = argument
    return command
  }

  /// A command that is only in the palette, because it takes an argument. If you choose it without an argument, the
  /// palette asks for the argument.
  init(
    _ name: String, _ help: String, _ argument: CommandArgument, writes: Bool = false,
    alone: (@Sendable (inout DashboardState) -> [Effect])? = nil
  ) {
    self.init(
      name, "", in: .screen, help, writes: writes,
      run: alone ?? { state in
        state.openPalette(typed: name + " ")
        return []
      })
    self.argument = argument
  }
}

enum EvictionText {
  static func account(of scope: EvictionScope, _ age: Duration?) -> String {
    let what =
      switch scope {
      case .everything: "evict everything from the cache"
      case .path(let path): "evict \(path.text) from the cache"
      case .matching(let query): "evict \(QueryText.line(query)) from the cache"
      case .tombstones(let path):
        "remove the tombstones\(path.map { " of \($0.text)" } ?? "") from the cache"
      }
    return what + (age.map { ", unless it was in sync within \(DurationText.text($0))" } ?? "")
  }
}
