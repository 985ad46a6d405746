// SPDX-License-Identifier: Apache-2.0
import TOMLReading

/// A kind of color file of another program. The kind is recognized by the file's content. The colors become a base16
/// scheme.
package enum ColorFile: String, CaseIterable, Sendable {
  case base16
  case iTerm2
  case alacritty = "Alacritty"
  case k9s
  case btop

  /// Reads a color file of any supported kind.
  /// - Parameter file: the file's name in errors; a scheme without a name is named after the file.
  /// - Throws: for a file of another kind, with the names of the supported kinds, and for missing colors.
  package static func scheme(_ text: String, file: String) throws(ThemeError) -> (Base16Scheme, ColorFile) {
    guard let kind = kind(of: text) else {
      throw ThemeError(
        file: file, line: nil,
        reason: "This is not a color file that Hearth reads. Use a base16 scheme (YAML with base00 to base0F), or the "
          + "colors of iTerm2 (.itermcolors), Alacritty (.toml, .yml), k9s (a skin's .yaml) or btop (.theme).")
    }
    if kind == .base16 { return (try Base16Scheme(text, file: file), kind) }
    let colors: [String: String] =
      switch kind {
      case .base16: [:]
      case .iTerm2: propertyList(text)
      case .alacritty: try alacritty(text, file)
      case .k9s: Outline(text).values
      case .btop: btop(text)
      }
    let palette = try ForeignPalette(kind, colors, file: file)
    return (Base16Scheme(name: name(of: file), slots: palette.slots, origins: palette.origins), kind)
  }

  private static func kind(of text: String) -> ColorFile? {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
    func hasLine(_ prefix: String) -> Bool { lines.contains { $0.hasPrefix(prefix) } }
    if text.contains("<plist"), text.contains("Ansi 0 Color") { return .iTerm2 }
    if hasLine("theme[main_bg]") { return .btop }
    if hasLine("k9s:") { return .k9s }
    if hasLine("base00") || hasLine("\"base00") || hasLine("base0") { return .base16 }
    if hasLine("[colors") || hasLine("colors:") || hasLine("colors.primary") { return .alacritty }
    return nil
  }

  /// The name of a file without its folder and extensions.
  private static func name(of file: String) -> String {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    let known = [".itermcolors", ".theme", ".toml", ".yaml", ".yml"]
    return known.first { name.lowercased().hasSuffix($0) }.map { String(name.dropLast($0.count)) } ?? name
  }

  // MARK: Readers

  /// The colors of a property list by key, as `#rrggbb`.
  private static func propertyList(_ text: String) -> [String: String] {
    var colors: [String: String] = [:]
    for entry in text.matches(of: /<key>([^<]+ Color)<\/key>\s*<dict>([^\u{1}]*?)<\/dict>/) {
      var parts: [String: Double] = [:]
      for part in entry.output.2.matches(of: /<key>(Red|Green|Blue) Component<\/key>\s*<\w+>([^<]+)<\/\w+>/) {
        parts[String(part.output.1)] = Double(part.output.2.filter { !$0.isWhitespace })
      }
      guard let red = parts["Red"], let green = parts["Green"], let blue = parts["Blue"] else { continue }
      func channel(_ value: Double) -> UInt8 { UInt8((min(max(value, 0), 1) * 255).rounded()) }
      colors[String(entry.output.1)] = "\(RGB(channel(red), channel(green), channel(blue)))"
    }
    return colors
  }

  /// The colors of a TOML file, or of the earlier YAML format, with keys such as `primary/background`.
  private static func alacritty(_ text: String, _ file: String) throws(ThemeError) -> [String: String] {
    if text.split(whereSeparator: \.isNewline).contains(where: { $0.hasPrefix("colors:") }) {
      let values = Outline(text).values
      return Dictionary(
        values.compactMap { $0.hasPrefix("colors/") ? (String($0.dropFirst(7)), $1) : nil }, uniquingKeysWith: { $1 })
    }
    let table: TOMLTable
    do throws(TOMLError) { table = try TOMLTable(parsing: text) } catch {
      throw ThemeError(file: file, line: error.line, reason: "\(error)")
    }
    var colors: [String: String] = [:]
    let groups = table["colors"]?.table
    for group in groups?.keys ?? [] {
      guard let entries = groups?[group]?.table else { continue }
      for key in entries.keys { colors["\(group)/\(key)"] = entries[key]?.string }
    }
    return colors
  }

  /// The values of lines such as `theme[main_bg]="#282a36"`, by name.
  private static func btop(_ text: String) -> [String: String] {
    var colors: [String: String] = [:]
    for entry in text.matches(of: /(?m)^\s*theme\[(\w+)\]\s*=\s*["']?([^"'\n]*)/) {
      colors[String(entry.output.1)] = String(entry.output.2)
    }
    return colors
  }
}

/// The scalars of a YAML file with nested maps, by path. Anchors are resolved.
private struct Outline {
  private(set) var values: [String: String] = [:]

  init(_ text: String) {
    var (open, anchors) = ([(indent: Int, key: String)](), [String: String]())
    for line in text.split(whereSeparator: \.isNewline) {
      let indent = line.prefix { $0 == " " }.count
      guard let (key, written) = Base16Scheme.entry(line) else {
        guard let colon = line.lastIndex(of: ":"), !line.dropFirst(indent).hasPrefix("#") else { continue }
        open = open.filter { $0.indent < indent } + [(indent, line[..<colon].filter { !$0.isWhitespace })]
        continue
      }
      open.removeAll { $0.indent >= indent }
      var value = written
      if let anchor = value.wholeMatch(of: /&(\S+)\s+["']?([^"']+)["']?/) {
        value = String(anchor.output.2)
        anchors[String(anchor.output.1)] = value
      } else if value.hasPrefix("*"), let anchored = anchors[String(value.dropFirst())] {
        value = anchored
      } else if value.hasPrefix("&") || value.hasPrefix("# ") {
        // A map with an anchor or a comment.
        open.append((indent, key))
        continue
      }
      values[(open.map(\.key) + [key]).joined(separator: "/")] = value
    }
  }
}
