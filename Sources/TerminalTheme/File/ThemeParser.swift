// SPDX-License-Identifier: Apache-2.0

import Spelling
import TOMLKit
import TerminalCanvas

/// Reads one theme file. What is wrong with a colour, a type or the syntax is an error; what is merely unknown is a
/// warning, so that a theme written for a newer Hearth still works.
struct ThemeParser {
  private let file: String
  private let lines: SourceLines
  private var source: ThemeSource

  /// Reads the text of a theme.
  ///
  /// - Parameters:
  ///   - file: how errors name the file.
  ///   - slug: the name under which the theme is known.
  static func parse(_ text: String, file: String, slug: String) throws(ThemeError) -> ThemeSource {
    let table: TOMLTable
    do {
      table = try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      throw ThemeError(file: file, line: error.source.begin.line, reason: error.description)
    } catch {
      throw ThemeError(file: file, line: nil, reason: "not a TOML file")
    }
    var parser = ThemeParser(file: file, lines: SourceLines(text), source: ThemeSource(file: file, slug: slug))
    try parser.readHead(table)
    try parser.readPalette(table)
    try parser.readRoles(table)
    return parser.source
  }

  private func error(_ key: String, in section: String? = nil, _ reason: String) -> ThemeError {
    ThemeError(file: file, line: lines.line(of: key, in: section), reason: reason)
  }

  private mutating func readHead(_ table: TOMLTable) throws(ThemeError) {
    guard let schema = table["schema"] else {
      throw ThemeError(file: file, line: 1, reason: "schema = 1 is missing")
    }
    guard schema.int == 1 else { throw error("schema", "schema must be 1") }
    source.name = try string("name", table)
    source.author = try string("author", table)
    _ = try string("license", table)
    source.inherits = try string("inherits", table).map { ($0, lines.line(of: "inherits", in: nil)) }
    if let variant = try string("variant", table) {
      guard let known = Theme.Variant(rawValue: variant) else {
        throw error("variant", "variant must be dark or light")
      }
      source.variant = known
    }
    if let background = try string("background", table) {
      guard ["theme", "terminal"].contains(background) else {
        throw error("background", "background must be theme or terminal")
      }
      source.usesTerminalBackground = background == "terminal"
    }
    if let promise = table["cvd"] {
      guard let value = promise.bool else { throw error("cvd", "cvd must be true or false") }
      source.isColorBlindSafe = value
    }
    let known = ["schema", "name", "author", "license", "variant", "inherits", "cvd", "background", "palette", "roles"]
    for key in table.keys.sorted() where !known.contains(key) {
      warn(lines.line(of: key, in: nil), "unknown key \(key)", NearestName.suggestion(for: key, among: known))
    }
  }

  private func string(_ key: String, _ table: TOMLTable) throws(ThemeError) -> String? {
    guard let value = table[key] else { return nil }
    guard let text = value.string else { throw error(key, "\(key) must be a string") }
    return text
  }

  private mutating func warn(_ line: Int?, _ reason: String, _ suggestion: String?) {
    let hint = suggestion.map { "; did you mean \($0)?" } ?? ""
    source.warnings.append(ThemeWarning(file: file, line: line, reason: reason + hint))
  }

  private mutating func readPalette(_ table: TOMLTable) throws(ThemeError) {
    guard let value = table["palette"] else { return }
    guard let palette = value.table else { throw error("palette", "palette must be a table") }
    for name in palette.keys.sorted() {
      guard let value = palette[name] else { continue }
      if let text = value.string {
        guard let color = ThemeColor(text: text) else {
          throw error(
            name, in: "palette", "\(name): \"\(text)\" is no colour; write \"#rrggbb\", \"default\" or an ANSI name")
        }
        source.palette[name] = color
      } else if let entry = value.table {
        source.palette[name] = try color(entry, name)
      } else {
        throw error(name, in: "palette", "\(name) must be a string or a table")
      }
    }
  }

  /// `{ hex = "#64ecd5", c256 = 122, c16 = "cyan" }`.
  private func color(_ entry: TOMLTable, _ name: String) throws(ThemeError) -> ThemeColor {
    guard let hex = entry["hex"]?.string, let rgb = RGB(hex: hex) else {
      throw error(name, in: "palette", "\(name): hex must be \"#rrggbb\"")
    }
    var c256: UInt8?
    if let value = entry["c256"] {
      guard let number = value.int, (16...255).contains(number) else {
        throw error(name, in: "palette", "\(name): c256 must be a number from 16 to 255")
      }
      c256 = UInt8(number)
    }
    var c16: AnsiColor?
    if let value = entry["c16"] {
      guard let ansi = value.string.flatMap(AnsiColor.init(rawValue:)) else {
        throw error(name, in: "palette", "\(name): c16 must be one of \(AnsiColor.allCases.map(\.rawValue))")
      }
      c16 = ansi
    }
    if let extra = entry.keys.first(where: { !["hex", "c256", "c16"].contains($0) }) {
      throw error(name, in: "palette", "\(name): unknown key \(extra)")
    }
    return .rgb(rgb, c256: c256, c16: c16)
  }

  private mutating func readRoles(_ table: TOMLTable) throws(ThemeError) {
    guard let value = table["roles"] else { return }
    guard let roles = value.table else { throw error("roles", "roles must be a table") }
    for name in roles.keys.sorted() {
      guard let value = roles[name] else { continue }
      let line = lines.line(of: name, in: "roles")
      guard let role = Role(rawValue: name) else {
        let known = Role.allCases.map(\.rawValue)
        let unquoted = value.table != nil && known.contains { $0.hasPrefix(name + ".") }
        warn(
          line, unquoted ? "\(name) is not a role; quote names with dots" : "unknown role \(name)",
          unquoted ? nil : NearestName.suggestion(for: name, among: known))
        continue
      }
      var entry = ThemeSource.Entry(line: line, file: file)
      if let text = value.string {
        entry.foreground = text
      } else if let style = value.table {
        try read(style, of: name, into: &entry)
      } else {
        throw error(name, in: "roles", "\(name) must be a colour or a table")
      }
      source.roles[role] = entry
    }
  }

  private mutating func read(
    _ style: TOMLTable, of name: String, into entry: inout ThemeSource.Entry
  ) throws(ThemeError) {
    for key in style.keys.sorted() {
      guard let value = style[key] else { continue }
      switch key {
      case "fg", "bg":
        guard let color = value.string else { throw error(name, in: "roles", "\(name): \(key) must be a string") }
        if key == "fg" { entry.foreground = color } else { entry.background = color }
      case "attrs": entry.attributes = try attributes(value, name)
      case "mono": entry.monochrome = try attributes(value, name)
      default:
        // An unquoted dotted role makes its last part a key of its parent: text.muted becomes { muted = … }.
        warn(entry.line, "\(name): unknown key \(key); quote names with dots", nil)
      }
    }
  }

  private func attributes(_ value: any TOMLValueConvertible, _ name: String) throws(ThemeError) -> Attributes {
    guard let array = value.array else {
      throw error(name, in: "roles", "\(name): attributes must be a list of strings")
    }
    var attributes: Attributes = []
    for element in array {
      guard let text = element.string, let attribute = Self.attributeNames[text] else {
        let shown = element.string.map { "\"\($0)\" is no attribute; " } ?? ""
        throw error(
          name, in: "roles", "\(name): \(shown)use \(Self.attributeNames.keys.sorted().joined(separator: ", "))")
      }
      attributes.formUnion(attribute)
    }
    return attributes
  }

  private static let attributeNames: [String: Attributes] = [
    "bold": .bold, "dim": .dim, "underline": .underline, "reverse": .reverse, "italic": .italic,
  ]
}
