// SPDX-License-Identifier: Apache-2.0
import Spelling
import TerminalCanvas

/// A theme file as read, before palette names are looked up, so that an heir can change the palette alone.
struct ThemeSource {
  /// A role's entry: names of the palette, `#rrggbb` values, or `default`.
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
  /// The reasons why the file cannot be used, in the order of its lines.
  var errors: [ThemeError] = []
  var warnings: [ThemeWarning] = []

  /// This file on top of the one it inherits from; promises such as `cvd` are not inherited.
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

  /// Looks up every colour name; throws the first error.
  func theme() throws(ThemeError) -> Theme {
    let (theme, errors) = resolved()
    if let error = errors.first { throw error }
    return theme
  }

  /// Looks up every colour name; an unknown one is an error behind those of the files, and the role follows its parent.
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
      file: entry.file, line: entry.line, reason: "\(role.rawValue): \"\(name)\" is not a colour of the palette" + hint)
  }
}

extension ThemeColor {
  /// Reads `#rgb`, `#rrggbb`, `default` or the name of an ANSI colour.
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
