// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import DashboardModel
package import FirestoreClientState
package import FirestoreJSON
import FirestoreModel
import FirestoreQuery
package import TerminalCanvas

// The lines of recordings: each action on the dashboard, and the settings at the start.

extension Key: JSONFormed {
  /// The key in the notation of keymaps.
  package func json(_ context: JSONContext) -> JSONSyntax { JSONSyntax(.string(description)) }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    let text = try json.text()
    guard let key = Key(text) else { throw json.error("Unknown key \"\(text)\".") }
    self = key
  }
}

extension Size: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    Size(width: try form("width", it?.width), height: try form("height", it?.height))
  }
}

extension MouseEvent.Kind: JSONFormed {}
extension MouseEvent.Button: JSONFormed {}

extension MouseEvent: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    MouseEvent(
      kind: try form("kind", it?.kind), button: try form("button", it?.button), x: try form.signed("x", it?.x),
      y: try form.signed("y", it?.y),
      modifiers: Key.Modifiers(
        rawValue: UInt8(truncatingIfNeeded: try form("modifiers", it.map { Int($0.modifiers.rawValue) }))))
  }
}

extension InputEvent: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .key(let key):
      try form("key", key)
      return "key"
    case .mouse(let event):
      try form("mouse", event)
      return "mouse"
    case .paste(let text):
      try form.word("text", text)
      return "paste"
    case .focus(let hasFocus):
      try form("focus", hasFocus)
      return "focus"
    case .resize(let size):
      try form("size", size)
      return "resize"
    case .reply(.drawn): return "drawn"
    case .reply(.operatingSystem(let text)):
      try form.word("text", text)
      return "report"
    case .reply(.other): return "other"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "key": .key(try form("key"))
    case "mouse": .mouse(try form("mouse"))
    case "paste": .paste(try form.word("text"))
    case "focus": .focus(try form("focus"))
    case "resize": .resize(try form("size"))
    case "drawn": .reply(.drawn)
    case "report": .reply(.operatingSystem(try form.word("text")))
    case "other": .reply(.other)
    default: nil
    }
  }
}

extension TerminalTraffic: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    TerminalTraffic(bytes: try form("bytes", it?.bytes), frames: try form("frames", it?.frames))
  }
}

extension ClientSetFacts.Client: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ClientSetFacts.Client(
      name: try form.word("name", it?.name), user: try form.user("user", it?.user),
      unsent: try form("unsent", it?.unsent),
      isDurable: try form("durable", it?.isDurable))
  }
}

extension ClientSetFacts: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ClientSetFacts(own: try form.word("own", it?.own), clients: try form("clients", it?.clients))
  }
}

// MARK: - Settings

/// A set of glyphs, encoded as its name. There are two sets.
extension Glyphs: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax {
    JSONSyntax(.string(self == .unicode ? "unicode" : "ascii"))
  }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    self = try json.text() == "unicode" ? .unicode : .ascii
  }
}

extension BorderStyle: JSONFormed {}

/// A command of a keymap with its keys.
private struct KeyForm: JSONRecord {
  var context: String
  var command: String
  var keys: [Key]

  static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    KeyForm(
      context: try form.word("context", it?.context), command: try form.word("command", it?.command),
      keys: try form("keys", it?.keys))
  }

  func means(_ command: Command) -> Bool { command.name == self.command && command.context.title == context }
}

/// A keymap, encoded as the keys that differ from the standard keymap.
extension Keymap: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax {
    let standard = Keymap.standard.commands + Keymap.standard.unbound
    let changed = (commands + unbound).filter { command in
      standard.first { $0.name == command.name && $0.context == command.context }?.keys != command.keys
    }
    return changed.map { KeyForm(context: $0.context.title, command: $0.name, keys: $0.keys) }.json(context)
  }

  /// Parses a keymap. Ignores commands that this program does not have.
  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    let forms = try [KeyForm](json: json, context)
    if forms.isEmpty {
      self = .standard
      return
    }
    let all = (Keymap.standard.commands + Keymap.standard.unbound).map { command in
      forms.first { $0.means(command) }.map { command.bound(to: $0.keys) } ?? command
    }
    self.init(commands: all.filter { !$0.keys.isEmpty }, unbound: all.filter(\.keys.isEmpty))
  }
}

extension DashboardConfiguration.Theme: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    DashboardConfiguration.Theme(
      slug: try form.word("slug", it?.slug), name: try form.word("name", it?.name),
      isLight: try form.optional("light", it?.isLight), border: try form.optional("border", it?.border))
  }
}

extension LatencyBudget: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var budget = LatencyBudget()
    budget.opening = try form("opening", it?.opening)
    budget.firstSnapshot = try form("firstSnapshot", it?.firstSnapshot)
    budget.median = try form("median", it?.median)
    budget.p99 = try form("p99", it?.p99)
    return budget
  }
}

extension InsideSettings: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var settings = InsideSettings()
    settings.budget = try form("budget", it?.budget)
    settings.price = ReadPrice(
      millionths: try form("priceMillionths", it?.price.millionths),
      currency: try form.word("currency", it?.price.currency),
      asOf: try form.word("asOf", it?.price.asOf))
    return settings
  }
}

extension DashboardPreferences: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    DashboardPreferences(
      themes: try form("themes", it?.themes), theme: try form.word("theme", it?.theme),
      keymap: try form("keys", it?.keymap),
      glyphs: try form("glyphs", it?.glyphs), isMouseOn: try form("mouse", it?.isMouseOn),
      inside: try form("inside", it?.inside))
  }
}

extension AttachedProgram: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var program = AttachedProgram(
      process: try form("process", it?.process), client: try form.optional("client", it?.client) ?? 1,
      name: try form.word("name", it?.name), allowsControl: try form("control", it?.allowsControl))
    program.isScenario = try form.optional("scenario", it?.isScenario)
    return program
  }
}

extension ScenarioTitle: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ScenarioTitle(name: try form.word("name", it?.name), summary: try form.word("summary", it?.summary))
  }
}

extension DashboardConfiguration: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var configuration = DashboardConfiguration(
      database: try form("database", it?.database), backend: try form("backend", it?.backend),
      utcOffset: try form.signed("utcOffset", it?.utcOffset), glyphs: try form("glyphs", it?.glyphs),
      themes: try form("themes", it?.themes), theme: try form.word("theme", it?.theme),
      isMouseOn: try form("mouse", it?.isMouseOn), highlightsRows: try form("highlightsRows", it?.highlightsRows),
      hasCoach: try form("coach", it?.hasCoach), keymap: try form("keys", it?.keymap),
      isReadOnly: try form("readOnly", it?.isReadOnly), attached: try form.optional("attached", it?.attached),
      commandHistory: try form.texts("commands", it?.commandHistory),
      connections: try form.texts("connections", it?.connections),
      reachingOptions: try form.optionalWord("reachingOptions", it?.reachingOptions),
      beginsWithWall: try form("wall", it?.beginsWithWall), inside: try form("inside", it?.inside),
      isLinkSlow: try form("slowLink", it?.isLinkSlow))
    configuration.scenarios = try form("scenarios", it?.scenarios)
    return configuration
  }
}

// MARK: - Actions

extension Action: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    try form("at", time)
    switch self {
    case .input(let event, _):
      try form("input", event)
      return "input"
    case .tick: return "tick"
    case .client(let event, _):
      try form("event", event)
      return "event"
    case .host(let event, _):
      try form("event", event)
      return "host"
    case .link(let isSlow, _):
      try form("slow", isSlow)
      return "link"
    case .sent(let traffic, _):
      try form.members(of: traffic)
      return "sent"
    case .listen(let query, let name, let options, _):
      try form("query", query)
      try form.word("name", name)
      try form("options", options)
      return "listen"
    case .open(let definitions, _):
      try form("listeners", definitions)
      return "open"
    case .adopt(let listeners, _):
      try form("listeners", listeners)
      return "adopt"
    case .configured(let preferences, _):
      try form("preferences", preferences)
      return "configured"
    case .caption(let text, _):
      try form.word("text", text)
      return "caption"
    case .run(let text, _):
      try form.word("text", text)
      return "run"
    case .overwrote(let count, _):
      try form("rows", count)
      return "overwrote"
    case .clientSet(let facts, _):
      try form.optional("clients", facts)
      return "staged"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    let time: Timestamp = try form("at")
    return switch type {
    case "input": .input(try form("input"), at: time)
    case "tick": .tick(time)
    case "event": .client(try form("event"), at: time)
    case "host": .host(try form("event"), at: time)
    case "link": .link(isSlow: try form("slow"), at: time)
    case "sent": .sent(try form.members(), at: time)
    case "listen": .listen(try form("query"), name: try form.word("name"), try form("options"), at: time)
    case "open": .open(try form("listeners"), at: time)
    case "adopt": .adopt(try form("listeners"), at: time)
    case "configured": .configured(try form("preferences"), at: time)
    case "caption": .caption(try form.word("text"), at: time)
    case "run": .run(try form.word("text"), at: time)
    case "overwrote": .overwrote(try form("rows"), at: time)
    case "staged": .clientSet(try form.optional("clients"), at: time)
    default: nil
    }
  }
}
