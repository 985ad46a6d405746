// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreText
import Foundation
import Spelling
import TOMLReading
package import TerminalCanvas
package import TerminalTheme

/// The file `config.toml`, with a user's permanent settings. An invalid setting is reported with its line. All other
/// settings apply.
package struct ConfigurationFile: Hashable, Sendable {
  package enum GlyphSet: String, Sendable {
    case auto, unicode, ascii

    /// The set of symbols. With `nil`, the locale determines it.
    package var choice: Glyphs? {
      switch self {
      case .auto: nil
      case .unicode: .unicode
      case .ascii: .ascii
      }
    }
  }

  package var theme: String?
  /// The line that names the theme.
  package var themeLine: Int?
  package var mouse: Bool?
  package var glyphs: GlyphSet?
  /// Determines when output is colored.
  package var color: AppearanceOptions.Color?
  /// A shell command line that receives the copied text on standard input.
  package var copy: String?
  /// Whether document names are links.
  package var links: Bool?
  /// Whether listeners are reopened at the next start.
  package var restoresListeners: Bool?
  /// The user's latency limits and read prices; `nil` for the defaults.
  package var inside: InsideSettings?
  package var keys: [KeyBinding] = []
  /// The skipped entries, each as `file:line: reason`, in line order.
  package var problems: [String] = []

  package static let template = """
    # hearth reads this from $XDG_CONFIG_HOME/hearth/config.toml (usually ~/.config/hearth/config.toml), at the start
    # and whenever it changes.
    # theme = "ember"   # a name from the picker (T), or a file in the themes folder next to this one; default: the
                        # last choice in the picker, else ember or paper by the terminal's background
    mouse = true        # % toggles it at run time
    glyphs = "auto"     # auto, unicode or ascii
    color = "auto"      # auto, always or never, from the next start; --color and NO_COLOR override auto
    links = false       # whether the name of an open document is a link (OSC 8), from the next start
    # copy = "xsel -bi" # the command that y sends text to, tried before the clipboards of desktop, tmux and terminal

    restore-listeners = true   # whether open listeners are reopened at the next start

    # Budgets for the client's times: page I marks times over budget.
    [budget]
    opening = "100ms"          # opening the cache
    first-snapshot = "250ms"   # from the first listener to its first snapshot
    p50 = "5ms"                # median time of a query in the cache
    p99 = "50ms"

    # Page I estimates a bill from the price of 100 000 reads; as-of is the date of that price.
    [bill]
    reads = 0.06
    currency = "USD"
    as-of = "2025-06"

    # Key bindings; 'hearth keys' lists all commands. A list, or keys separated by spaces; [] removes all keys.
    [keys]
    # toggle-network = "o"
    # half-page-down = ["ctrl-d", "J"]

    # Key bindings for one part of the screen.
    [keys.live-feed]
    # clear-feed = "C"

    """

  /// Reads the file at a path. A missing file is treated as an empty one.
  ///
  /// - Parameter name: the file's name in messages.
  package static func read(_ path: String, name: String) -> ConfigurationFile {
    guard FileManager.default.fileExists(atPath: path) else { return ConfigurationFile() }
    let text: String
    do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
      return ConfigurationFile(problems: ["\(name): cannot be read as text; the file is ignored"])
    }
    return parse(text, name: name)
  }

  package static func parse(_ text: String, name: String) -> ConfigurationFile {
    var reader = ConfigurationReader(text, name: name)
    return reader.read()
  }

  private init(problems: [String] = []) { self.problems = problems }
  package init() {}
}

/// Reads the settings individually, so that an invalid setting affects no other setting.
private struct ConfigurationReader {
  private let name: String
  private let table: TOMLTable
  private let lines: SourceLines
  private var file = ConfigurationFile()
  private var found: [(line: Int, reason: String)] = []

  /// The maximum number of invalid TOML lines that are skipped. A file with more invalid lines is not treated as TOML.
  private static let maximumBrokenLines = 20

  init(_ text: String, name: String) {
    self.name = name
    var rows = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    var broken: [(line: Int, reason: String)] = []
    var table: TOMLTable?
    while table == nil, broken.count <= Self.maximumBrokenLines {
      do throws(TOMLError) {
        table = try TOMLTable(parsing: rows.joined(separator: "\n"))
      } catch {
        guard let row = rows.indices.last(where: { $0 < error.line && !Self.saysNothing(rows[$0]) }) else { break }
        broken.append((row + 1, "line ignored: \(error)"))
        rows[row] = ""
      }
    }
    if table == nil { broken = [(1, "not a TOML file; the file is ignored")] }
    self.table = table ?? TOMLTable()
    lines = SourceLines(rows.joined(separator: "\n"))
    found = broken
  }

  private static func saysNothing(_ row: String) -> Bool {
    let text = row.trimmingCharacters(in: .whitespaces)
    return text.isEmpty || text.hasPrefix("#")
  }

  mutating func read() -> ConfigurationFile {
    let known = ["theme", "mouse", "glyphs", "color", "copy", "links", "restore-listeners", "budget", "bill", "keys"]
    for key in table.keys {
      switch key {
      case "theme":
        file.theme = table[key]?.string
        file.themeLine = lines.line(of: key, in: nil)
        if file.theme == nil { refuse(key, "theme must be a name in quotes") }
      case "mouse":
        file.mouse = table[key]?.bool
        if file.mouse == nil { refuse(key, "mouse must be true or false") }
      case "glyphs":
        file.glyphs = table[key]?.string.flatMap(ConfigurationFile.GlyphSet.init)
        if file.glyphs == nil { refuse(key, "glyphs must be \"auto\", \"unicode\" or \"ascii\"") }
      case "color":
        file.color = table[key]?.string.flatMap(AppearanceOptions.Color.init(rawValue:))
        if file.color == nil { refuse(key, "color must be \"auto\", \"always\" or \"never\"") }
      case "copy":
        file.copy = table[key]?.string.flatMap { $0.isEmpty ? nil : $0 }
        if file.copy == nil { refuse(key, "copy must be a command in quotes") }
      case "links":
        file.links = table[key]?.bool
        if file.links == nil { refuse(key, "links must be true or false") }
      case "restore-listeners":
        file.restoresListeners = table[key]?.bool
        if file.restoresListeners == nil { refuse(key, "restore-listeners must be true or false") }
      case "budget", "bill":
        guard let part = table[key]?.table else {
          refuse(key, "\(key) must be a table")
          break
        }
        for (name, reason) in file.readInside(part, isBudget: key == "budget") { refuse(name, in: key, reason) }
      case "keys":
        if let table = table[key]?.table { readKeys(table, section: nil) } else { refuse(key, "keys must be a table") }
      default:
        let hint = NearestName.suggestion(for: key, among: known).map { "did you mean \($0)?" }
        refuse(
          key, "unknown setting \"\(key)\"; \(hint ?? "known settings: \(known.joined(separator: ", "))")")
      }
    }
    file.keys.sort { ($0.line ?? 0) < ($1.line ?? 0) }
    file.problems = found.sorted { $0.line < $1.line }.map { "\(name):\($0.line): \($0.reason)" }
    return file
  }

  private mutating func refuse(_ key: String, in section: String? = nil, _ reason: String) {
    found.append((lines.line(of: key, in: section) ?? 1, reason))
  }

  private mutating func readKeys(_ table: TOMLTable, section: String?) {
    let place = section.map { "keys.\($0)" } ?? "keys"
    for command in table.keys {
      guard let value = table[command] else { continue }
      if section == nil, let inner = value.table {
        readKeys(inner, section: command)
        continue
      }
      let line = lines.line(of: command, in: place) ?? section.flatMap { lines.line(of: $0, in: "keys") }
      let list = value.array.map { array in array.map(\.string) } ?? [value.string]
      guard list.allSatisfy({ $0 != nil }) else {
        found.append((line ?? 1, "\(command) must be a key in quotes or a list of them"))
        continue
      }
      let keys = list.compactMap(\.self).flatMap { $0.split(separator: " ").map(String.init) }
      file.keys.append(KeyBinding(section: section, command, keys, line: line))
    }
  }
}

extension ConfigurationFile {
  /// Reads the section `[budget]` or `[bill]`.
  /// - Returns: the skipped keys, with the reasons.
  mutating func readInside(_ table: TOMLTable, isBudget: Bool) -> [(key: String, reason: String)] {
    var settings = inside ?? InsideSettings()
    defer { inside = settings }
    return table.keys.compactMap { key in
      guard let value = table[key] else { return nil }
      let reason = isBudget ? settings.budget.read(value, of: key) : settings.price.read(value, of: key)
      return reason.map { (key, $0) }
    }
  }
}

extension LatencyBudget {
  /// - Returns: the reason why the value is rejected; `nil` if it is accepted.
  fileprivate mutating func read(_ value: TOMLValue, of key: String) -> String? {
    guard ["opening", "first-snapshot", "p50", "p99"].contains(key) else {
      return "unknown budget \"\(key)\"; known budgets: opening, first-snapshot, p50 and p99"
    }
    guard let text = value.string, let time = try? DurationText.parse(text, longest: .seconds(3600)) else {
      return "\(key) must be a time in quotes, such as \"50ms\""
    }
    switch key {
    case "opening": opening = time
    case "first-snapshot": firstSnapshot = time
    case "p50": median = time
    default: p99 = time
    }
    return nil
  }
}

extension ReadPrice {
  /// - Returns: the reason why the value is rejected; `nil` if it is accepted.
  fileprivate mutating func read(_ value: TOMLValue, of key: String) -> String? {
    switch (key, value) {
    case ("reads", .float(let price)) where price.isFinite && price >= 0 && price <= 1_000_000:
      millionths = Int((price * 1_000_000).rounded())
    case ("reads", .integer(let price)) where (0...1_000_000).contains(price): millionths = Int(price) * 1_000_000
    case ("reads", _): return "reads must be the price of 100 000 reads, such as 0.06"
    case ("currency", .string(let name)) where (1...8).contains(name.count): currency = name
    case ("currency", _): return "currency must be a name of at most 8 letters in quotes"
    case ("as-of", .string(let month)) where (1...20).contains(month.count): asOf = month
    case ("as-of", _): return "as-of must be a date in quotes, such as \"2025-06\""
    default: return "unknown setting \"\(key)\"; known settings: reads, currency and as-of"
    }
    return nil
  }
}

/// The settings in a user's files. `DashboardHost` reads the settings that only the dashboard uses.
package struct Preferences: Sendable {
  package var file: ConfigurationFile
  package var catalog: ThemeCatalog
  package var remembered: RememberedChoices
  /// The reasons why themes of the user are invalid, in the form `file:line: reason`.
  package let themeProblems: [String]
  /// The configuration file's name in messages.
  package let fileName: String

  package static func read(_ paths: Paths) -> Preferences {
    Preferences(
      file: ConfigurationFile.read(paths.configurationFile, name: paths.short(paths.configurationFile)),
      catalog: ThemeCatalog(directories: paths.themeFolders), remembered: RememberedChoices.read(paths.memoryFile),
      paths)
  }

  init(file: ConfigurationFile, catalog: ThemeCatalog, remembered: RememberedChoices, _ paths: Paths) {
    self.file = file
    self.catalog = catalog
    self.remembered = remembered
    fileName = paths.short(paths.configurationFile)
    themeProblems = catalog.ownSlugs.flatMap { slug in
      catalog.check(named: slug).map { $0.errors.map { paths.short("\($0)") } } ?? []
    }
  }
}
