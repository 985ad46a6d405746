// SPDX-License-Identifier: Apache-2.0
import Spelling
import TOMLReading
import TerminalCanvas

/// Parses a theme file and collects all its errors. An invalid color, type or syntax is an error. An unknown entry is
/// only a warning, so that a theme for a newer version of Hearth still works.
struct ThemeParser {
  private let file: String
  private let lines: SourceLines
  private var source: ThemeSource

  /// Parses the text of a theme.
  ///
  /// - Parameters:
  ///   - file: the file's name in errors.
  ///   - slug: the theme's name.
  /// - Throws: for invalid TOML. All other errors are in the returned source.
  static func parse(_ text: String, file: String, slug: String) throws(ThemeError) -> ThemeSource {
    let table: TOMLTable
    do throws(TOMLError) { table = try TOMLTable(parsing: text) } catch {
      throw ThemeError(file: file, line: error.line, reason: "\(error)")
    }
    var parser = ThemeParser(file: file, lines: SourceLines(text), source: ThemeSource(file: file, slug: slug))
    parser.readHead(table)
    parser.readPalette(table)
    parser.readRoles(table)
    parser.readGlyphs(table)
    parser.source.errors.sort { ($0.line ?? 0) < ($1.line ?? 0) }
    return parser.source
  }

  private mutating func refuse(_ key: String, in section: String? = nil, _ reason: String) {
    source.errors.append(ThemeError(file: file, line: lines.line(of: key, in: section), reason: reason))
  }

  private mutating func readHead(_ table: TOMLTable) {
    if let schema = table["schema"] {
      if schema.int != 1 { refuse("schema", "schema must be 1") }
    } else {
      source.errors.append(ThemeError(file: file, line: 1, reason: "schema = 1 is missing"))
    }
    source.name = string("name", table)
    source.author = string("author", table)
    _ = string("license", table)
    source.inherits = string("inherits", table).map { ($0, lines.line(of: "inherits", in: nil)) }
    if let variant = string("variant", table) {
      source.variant = Theme.Variant(rawValue: variant)
      if source.variant == nil { refuse("variant", "variant must be dark or light") }
    }
    if let background = string("background", table) {
      if !["theme", "terminal"].contains(background) { refuse("background", "background must be theme or terminal") }
      source.usesTerminalBackground = background == "terminal"
    }
    if let promise = table["cvd"] {
      source.isColorBlindSafe = promise.bool
      if promise.bool == nil { refuse("cvd", "cvd must be true or false") }
    }
    let known = [
      "schema", "name", "author", "license", "variant", "inherits", "cvd", "background", "palette", "roles", "glyphs",
    ]
    for key in table.keys.sorted() where !known.contains(key) {
      warn(lines.line(of: key, in: nil), "unknown key \(key)", NearestName.suggestion(for: key, among: known))
    }
  }

  private mutating func string(_ key: String, _ table: TOMLTable) -> String? {
    guard let value = table[key] else { return nil }
    if value.string == nil { refuse(key, "\(key) must be a string") }
    return value.string
  }

  private mutating func warn(_ line: Int?, _ reason: String, _ suggestion: String?) {
    let hint = suggestion.map { "; did you mean \($0)?" } ?? ""
    source.warnings.append(ThemeWarning(file: file, line: line, reason: reason + hint))
  }

  private mutating func readPalette(_ table: TOMLTable) {
    guard let value = table["palette"] else { return }
    guard let palette = value.table else { return refuse("palette", "palette must be a table") }
    for name in palette.keys.sorted() {
      guard let value = palette[name] else { continue }
      if let text = value.string {
        source.palette[name] = ThemeColor(text: text)
        guard source.palette[name] == nil else { continue }
        refuse(name, in: "palette", "\(name): invalid color \"\(text)\"; use \"#rrggbb\", \"default\" or an ANSI name")
      } else if let entry = value.table {
        source.palette[name] = color(entry, name)
      } else {
        refuse(name, in: "palette", "\(name) must be a string or a table")
      }
    }
  }

  /// A color that is given as a table: `{ hex = "#64ecd5", c256 = 122, c16 = "cyan" }`.
  private mutating func color(_ entry: TOMLTable, _ name: String) -> ThemeColor? {
    if let extra = entry.keys.sorted().first(where: { !["hex", "c256", "c16"].contains($0) }) {
      refuse(name, in: "palette", "\(name): unknown key \(extra)")
    }
    guard let hex = entry["hex"]?.string, let rgb = RGB(hex: hex) else {
      refuse(name, in: "palette", "\(name): hex must be \"#rrggbb\"")
      return nil
    }
    let c256 = entry["c256"]?.int
    if entry["c256"] != nil, c256.map((16...255).contains) != true {
      refuse(name, in: "palette", "\(name): c256 must be a number from 16 to 255")
    }
    let c16 = entry["c16"]?.string.flatMap(AnsiColor.init(rawValue:))
    if entry["c16"] != nil, c16 == nil {
      refuse(name, in: "palette", "\(name): c16 must be one of \(AnsiColor.allCases.map(\.rawValue))")
    }
    return .rgb(rgb, c256: c256.flatMap { UInt8(exactly: $0) }, c16: c16)
  }

  private mutating func readGlyphs(_ table: TOMLTable) {
    guard let value = table["glyphs"] else { return }
    guard let glyphs = value.table else { return refuse("glyphs", "glyphs must be a table") }
    for key in glyphs.keys.sorted() {
      guard key == "border" else {
        warn(
          lines.line(of: key, in: "glyphs"), "unknown key \(key) of glyphs",
          NearestName.suggestion(for: key, among: ["border"]))
        continue
      }
      source.border = glyphs[key]?.string.flatMap(BorderStyle.init(rawValue:))
      if source.border == nil {
        let names = BorderStyle.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        refuse(key, in: "glyphs", "border must be one of \(names)")
      }
    }
  }

  private mutating func readRoles(_ table: TOMLTable) {
    guard let value = table["roles"] else { return }
    guard let roles = value.table else { return refuse("roles", "roles must be a table") }
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
        read(style, of: name, into: &entry)
      } else {
        refuse(name, in: "roles", "\(name) must be a color or a table")
      }
      source.roles[role] = entry
    }
  }

  private mutating func read(_ style: TOMLTable, of name: String, into entry: inout ThemeSource.Entry) {
    for key in style.keys.sorted() {
      guard let value = style[key] else { continue }
      switch key {
      case "fg", "bg":
        if value.string == nil { refuse(name, in: "roles", "\(name): \(key) must be a string") }
        if key == "fg" { entry.foreground = value.string } else { entry.background = value.string }
      case "attrs": entry.attributes = attributes(value, name)
      case "mono": entry.monochrome = attributes(value, name)
      default:
        // An unquoted dotted role makes its last part a key of its parent: text.muted becomes { muted = … }.
        warn(entry.line, "\(name): unknown key \(key); quote names with dots", nil)
      }
    }
  }

  private mutating func attributes(_ value: TOMLValue, _ name: String) -> Attributes {
    guard let array = value.array else {
      refuse(name, in: "roles", "\(name): attributes must be a list of strings")
      return []
    }
    var attributes: Attributes = []
    for element in array {
      guard let text = element.string, let attribute = Self.attributeNames[text] else {
        let shown = element.string.map { "unknown attribute \"\($0)\"; " } ?? ""
        refuse(name, in: "roles", "\(name): \(shown)use \(Self.attributeNames.keys.sorted().joined(separator: ", "))")
        continue
      }
      attributes.formUnion(attribute)
    }
    return attributes
  }

  private static let attributeNames: [String: Attributes] = [
    "bold": .bold, "dim": .dim, "underline": .underline, "reverse": .reverse, "italic": .italic,
  ]
}

/// A parsed theme file in which palette names are not yet resolved, so that an inheriting theme can change only the
/// palette.
struct ThemeSource {
  /// The entry of a role. It contains names of the palette, `#rrggbb` values, or `default`.
  struct Entry {
    var foreground: String?
    var background: String?
    var attributes: Attributes = []
    var monochrome: Attributes?
    var line: Int?
    var file: String
  }

  var file: String
  var slug: String
  var name: String?
  var author: String?
  var variant: Theme.Variant?
  var inherits: (slug: String, line: Int?)?
  var isColorBlindSafe: Bool?
  var usesTerminalBackground: Bool?
  var border: BorderStyle?
  var palette: [String: ThemeColor] = [:]
  var roles: [Role: Entry] = [:]
  /// The errors of the file, in line order.
  var errors: [ThemeError] = []
  var warnings: [ThemeWarning] = []

  /// This file merged with the inherited file. Statements such as `cvd` (suitable for color-blind people) are not
  /// inherited.
  func merged(onto parent: ThemeSource) -> ThemeSource {
    var merged = self
    merged.variant = variant ?? parent.variant
    merged.usesTerminalBackground = usesTerminalBackground ?? parent.usesTerminalBackground
    merged.border = border ?? parent.border
    merged.palette = parent.palette.merging(palette) { _, own in own }
    merged.roles = parent.roles.merging(roles) { _, own in own }
    merged.errors = parent.errors + errors
    merged.warnings = parent.warnings + warnings
    return merged
  }

  /// Resolves every color name. Throws the first error.
  func theme() throws(ThemeError) -> Theme {
    let (theme, errors) = resolved()
    if let error = errors.first { throw error }
    return theme
  }

  /// Resolves every color name. For an unknown name, adds an error after the errors of the files, and the role inherits
  /// from its parent.
  func resolved() -> (theme: Theme, errors: [ThemeError]) {
    var errors = self.errors
    if errors.isEmpty, palette["fg"] == nil || palette["bg"] == nil {
      errors.append(
        ThemeError(file: file, line: nil, reason: "[palette] must define fg and bg, here or in an inherited theme"))
    }
    var styles: [Role: RoleStyle] = [:]
    for (role, entry) in roles.sorted(by: { ($0.value.line ?? 0) < ($1.value.line ?? 0) }) {
      var style = RoleStyle(attributes: entry.attributes, monochrome: entry.monochrome)
      do throws(ThemeError) { style.foreground = try color(entry.foreground, role, entry) } catch {
        errors.append(error)
      }
      do throws(ThemeError) { style.background = try color(entry.background, role, entry) } catch {
        errors.append(error)
      }
      styles[role] = style
    }
    var theme = Theme(
      slug: slug, name: name ?? slug, author: author, variant: variant ?? .dark,
      isColorBlindSafe: isColorBlindSafe ?? false,
      usesTerminalBackground: usesTerminalBackground ?? false, foreground: palette["fg"] ?? .terminal,
      background: palette["bg"] ?? .terminal, styles: styles)
    theme.border = border
    return (theme, errors)
  }

  private func color(_ name: String?, _ role: Role, _ entry: Entry) throws(ThemeError) -> ThemeColor? {
    guard let name else { return nil }
    if let color = palette[name] { return color }
    if let color = ThemeColor(text: name) { return color }
    let hint = NearestName.suggestion(for: name, among: palette.keys).map { "; did you mean \"\($0)\"?" } ?? ""
    throw ThemeError(
      file: entry.file, line: entry.line, reason: "\(role.rawValue): \"\(name)\" is not a color of the palette" + hint)
  }
}

extension ThemeColor {
  /// Parses `#rgb`, `#rrggbb`, `default` or the name of an ANSI color.
  init?(text: String) {
    if text == "default" {
      self = .terminal
    } else if let name = AnsiColor(rawValue: text) {
      self = .ansi(name)
    } else if let rgb = RGB(hex: text) {
      self = .rgb(rgb, c256: nil, c16: nil)
    } else {
      return nil
    }
  }
}
