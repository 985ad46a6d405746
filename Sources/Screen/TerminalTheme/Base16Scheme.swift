// SPDX-License-Identifier: Apache-2.0

/// A base16 color scheme: sixteen colors by number, in YAML (github.com/tinted-theming/home, "styling.md").
package struct Base16Scheme: Hashable, Sendable {
  /// A color that was replaced, because it was too faint as a text color or too strong as a background. Also contains
  /// its replacement.
  package struct Correction: Hashable, Sendable, CustomStringConvertible {
    /// The slot of the color, or the color's name in another program's file.
    package var slot: String
    package var color: RGB
    package var replacement: RGB
    /// Whether the color is the background of text.
    package var isBackdrop = false

    package var description: String {
      let reason = isBackdrop ? "Text on this color cannot be read." : "The color cannot be read on the background."
      return "\(slot) \(color): \(reason) The theme has \(replacement)."
    }
  }

  package private(set) var name = "base16"
  package private(set) var author: String?
  private var slots: [String: RGB] = [:]
  /// The names of the colors in another program's file, by slot.
  private var origins: [String: String] = [:]

  private static let names = (0..<16).map { "base0" + String($0, radix: 16, uppercase: true) }

  /// Creates a scheme from the colors in another program's file.
  init(name: String, slots: [String: RGB], origins: [String: String]) {
    (self.name, self.slots, self.origins) = (name, slots, origins)
  }

  /// Reads the current format, with a nested palette, and the earlier flat format.
  /// - Parameter file: the file's name in errors.
  /// - Throws: for an invalid color, with its line, and if one of the sixteen colors is missing.
  package init(_ text: String, file: String) throws(ThemeError) {
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      guard let (key, value) = Self.entry(line) else { continue }
      switch key {
      case "name", "scheme": name = value
      case "author": author = value
      default:
        guard let slot = Self.names.first(where: { $0.lowercased() == key.lowercased() }) else { continue }
        guard let color = RGB(hex: value.hasPrefix("#") ? value : "#" + value) else {
          throw ThemeError(
            file: file, line: index + 1, reason: "\(key): \"\(value)\" is not a color; write \"#rrggbb\"")
        }
        slots[slot] = color
      }
    }
    if let missing = Self.names.first(where: { slots[$0] == nil }) {
      throw ThemeError(file: file, line: nil, reason: "\(missing) is missing: a base16 scheme has base00 to base0F")
    }
  }

  /// The key and the value of a line such as `key: "value"`, without quotes and comments.
  static func entry(_ line: Substring) -> (key: String, value: String)? {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    let key = line[..<colon].filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" }
    var value = line[line.index(after: colon)...].drop(while: \.isWhitespace)
    guard !key.hasPrefix("#"), let first = value.first else { return nil }
    if first == "\"" || first == "'" {
      value = value.dropFirst().prefix { $0 != first }
    } else {
      // A comment sign follows a blank.
      if let comment = value.firstRange(of: " #") { value = value[..<comment.lowerBound] }
      while value.last?.isWhitespace == true { value.removeLast() }
    }
    return value.isEmpty ? nil : (key, String(value))
  }

  /// The file name of a theme, as in `ocean-dark`.
  package var slug: String {
    let words = name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    return words.isEmpty ? "base16" : words.joined(separator: "-")
  }

  /// Converts the scheme to a theme file. Its colors become the colors of text, changes and states. A color that is
  /// unreadable on the background, which base16 uses for comments, is moved towards black or white until its contrast
  /// is 4.5. If no text is readable on a surface or selection color, that color is moved towards the background.
  package func theme() -> (text: String, corrections: [Correction]) {
    let paper = self["base00"]
    let isLight = Theme.Variant(background: paper) == .light
    var corrections: [Correction] = []
    func readable(_ slot: String) -> RGB {
      let color = self[slot]
      let replacement = Self.readable(color, on: [paper], isLight: isLight)
      if replacement != color {
        corrections.append(Correction(slot: origins[slot] ?? slot, color: color, replacement: replacement))
      }
      return replacement
    }
    let ink = readable("base05")
    func backdrop(_ slot: String) -> RGB {
      let color = self[slot]
      let replacement = Self.backdrop(color, on: paper, isLight: isLight)
      if replacement != color {
        corrections.append(
          Correction(slot: origins[slot] ?? slot, color: color, replacement: replacement, isBackdrop: true))
      }
      return replacement
    }
    let (surface, selection) = (backdrop("base01"), backdrop("base02"))
    // Text is drawn on these too.
    let strong = Self.readable(ink, on: [paper, surface, selection], isLight: isLight)
    let muted = Self.readable(readable("base03"), on: [paper, surface], isLight: isLight)
    let (removed, accent, modified) = (readable("base08"), readable("base09"), readable("base0A"))
    let (added, info, violet) = (readable("base0B"), readable("base0D"), readable("base0E"))
    var entries: [(String, RGB)] = [
      ("bg", paper), ("fg", ink), ("strong", strong), ("muted", muted), ("surface", surface),
      ("border", self["base02"]),
      ("selection", selection), ("accent", accent), ("added", added), ("modified", modified), ("removed", removed),
      ("info", info), ("violet", violet),
    ]
    for (name, color) in [("added-tint", added), ("modified-tint", modified), ("removed-tint", removed)] {
      entries.append((name, Self.tint(of: color, on: paper, below: strong)))
    }
    for (name, color) in [("ink-accent", accent), ("ink-warn", modified), ("ink-error", removed)] {
      entries.append((name, Self.ink(on: color, else: paper)))
    }
    let lines =
      ["schema = 1", "name = \(Self.quoted(name))"] + (author.map { ["author = \(Self.quoted($0))"] } ?? [])
      + ["variant = \"\(isLight ? "light" : "dark")\"", "inherits = \"ember\"", "", "[palette]"]
      + entries.map { "\($0.0) = \"\($0.1)\"" }
    return (lines.joined(separator: "\n") + "\n", corrections)
  }

  private subscript(slot: String) -> RGB { slots[slot] ?? RGB(0, 0, 0) }

  // MARK: Contrast

  /// Whether text is readable with true color and with 256 colors.
  private static func isReadable(_ ink: RGB, on paper: RGB) -> Bool {
    func reduced(_ color: RGB) -> RGB { XtermPalette.color(XtermPalette.nearest(to: color)) ?? color }
    return ink.contrast(to: paper) >= ThemeLint.leastOfText
      && reduced(ink).contrast(to: reduced(paper)) >= ThemeLint.leastOfText
  }

  private static func readable(_ color: RGB, on papers: [RGB], isLight: Bool) -> RGB {
    let end = isLight ? RGB(0, 0, 0) : RGB(255, 255, 255)
    for step in 0..<20 {
      let candidate = color.mixed(with: end, Double(step) / 20)
      if papers.allSatisfy({ isReadable(candidate, on: $0) }) { return candidate }
    }
    return end
  }

  /// The color, moved towards the background until black text (on light backgrounds) or white text is readable on it.
  private static func backdrop(_ color: RGB, on paper: RGB, isLight: Bool) -> RGB {
    let ink = isLight ? RGB(0, 0, 0) : RGB(255, 255, 255)
    for step in 0..<20 {
      let candidate = color.mixed(with: paper, Double(step) / 20)
      if isReadable(ink, on: candidate) { return candidate }
    }
    return paper
  }

  /// The strongest tint of a background on which text is readable.
  private static func tint(of color: RGB, on paper: RGB, below ink: RGB) -> RGB {
    for step in stride(from: 5, through: 1, by: -1) {
      let candidate = paper.mixed(with: color, Double(step) / 20)
      if isReadable(ink, on: candidate) { return candidate }
    }
    return paper
  }

  private static func ink(on color: RGB, else paper: RGB) -> RGB {
    let candidates = [paper, RGB(0, 0, 0), RGB(255, 255, 255)]
    return candidates.first { isReadable($0, on: color) }
      ?? candidates.max { $0.contrast(to: color) < $1.contrast(to: color) } ?? paper
  }

  /// The text as a basic string of TOML.
  private static func quoted(_ text: String) -> String {
    let safe = text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
    return "\"" + String(String.UnicodeScalarView(safe)).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      + "\""
  }
}
