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
  var palette: [String: ThemeColor] = [:]
  var roles: [Role: Entry] = [:]
  var warnings: [ThemeWarning] = []

  /// This file on top of the one it inherits from; promises such as `cvd` are not inherited.
  func merged(onto parent: ThemeSource) -> ThemeSource {
    var merged = self
    merged.variant = variant ?? parent.variant
    merged.usesTerminalBackground = usesTerminalBackground ?? parent.usesTerminalBackground
    merged.palette = parent.palette.merging(palette) { _, own in own }
    merged.roles = parent.roles.merging(roles) { _, own in own }
    merged.warnings = parent.warnings + warnings
    return merged
  }

  /// Looks up every colour name.
  func theme() throws(ThemeError) -> Theme {
    guard let foreground = palette["fg"], let background = palette["bg"] else {
      throw ThemeError(file: file, line: nil, reason: "[palette] must define fg and bg, here or in an inherited theme")
    }
    var styles: [Role: RoleStyle] = [:]
    for (role, entry) in roles.sorted(by: { ($0.value.line ?? 0) < ($1.value.line ?? 0) }) {
      styles[role] = RoleStyle(
        foreground: try color(entry.foreground, role, entry), background: try color(entry.background, role, entry),
        attributes: entry.attributes, monochrome: entry.monochrome)
    }
    return Theme(
      slug: slug, name: name ?? slug, author: author, variant: variant ?? .dark,
      isColorBlindSafe: isColorBlindSafe ?? false,
      usesTerminalBackground: usesTerminalBackground ?? false, foreground: foreground, background: background,
      styles: styles)
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

/// Finds the line on which a key of a TOML file stands, because the parser gives positions for syntax errors only.
struct SourceLines {
  private let lines: [Substring]

  init(_ text: String) {
    lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
  }

  /// The line, counted from 1, that sets a key in a section (`nil`: before any section); `nil` if none does so plainly.
  func line(of key: String, in section: String?) -> Int? {
    var current: String?
    for (index, line) in lines.enumerated() {
      let line = line.drop { $0 == " " || $0 == "\t" }
      if line.first == "[" {
        current = line.dropFirst().prefix { $0 != "]" }.trimmed
        if section == nil, current == key { return index + 1 }
        continue
      }
      guard current == section else { continue }
      for spelling in [key, "\"\(key)\"", "'\(key)'"] where line.hasPrefix(spelling) {
        if line.dropFirst(spelling.count).first(where: { $0 != " " && $0 != "\t" }).map({ "=.".contains($0) }) == true {
          return index + 1
        }
      }
    }
    return nil
  }
}

extension Substring {
  fileprivate var trimmed: String {
    let head = drop { $0 == " " }
    return String(head.prefix { $0 != " " })
  }
}
