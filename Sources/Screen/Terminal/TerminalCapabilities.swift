// SPDX-License-Identifier: Apache-2.0

package import TerminalCanvas
package import TerminalTheme

/// The user's settings, which replace the values found out from the terminal.
package struct TerminalPreferences: Sendable {
  /// The colour depth; `nil` for as many colours as the terminal has.
  package var depth: ColorDepth?
  /// The set of symbols; `nil` for the one that suits the locale.
  package var glyphs: Glyphs?
  package var usesMouse: Bool
  /// Whether the line to the terminal counts as slow.
  package var isSlow: Bool
  /// Whether links of the canvas become links of the terminal (OSC 8).
  package var showsLinks: Bool

  package init(
    depth: ColorDepth? = nil, glyphs: Glyphs? = nil, usesMouse: Bool = true, isSlow: Bool = false,
    showsLinks: Bool = false
  ) {
    self.depth = depth
    self.glyphs = glyphs
    self.usesMouse = usesMouse
    self.isSlow = isSlow
    self.showsLinks = showsLinks
  }
}

/// Decides from the environment and the terminal's description what may be drawn.
enum TerminalCapabilities {
  /// Whether to try 0xRRGGBB colours: the terminal says it shows them, and neither user nor environment asks for fewer.
  static func triesDirectColor(environment: [String: String], wish: ColorDepth?) -> Bool {
    let claim = environment["COLORTERM"] ?? ""
    guard wish == .trueColor || claim == "truecolor" || claim == "24bit" else { return false }
    return (wish ?? .trueColor) == .trueColor && (wish != nil || (environment["NO_COLOR"] ?? "").isEmpty)
  }

  /// The colour depth of a terminal that has `colors` colours.
  ///
  /// `NO_COLOR` (no-color.org) turns colours off unless the user asked for a depth; no wish gets more than the
  /// terminal has.
  static func depth(colors: Int, environment: [String: String], wish: ColorDepth?) -> ColorDepth {
    let possible: ColorDepth =
      switch colors {
      case ..<8: .mono
      case ..<16: .eight
      case ..<256: .sixteen
      case ..<0x100_0000: .c256
      default: .trueColor
      }
    if let wish { return min(wish, possible) }
    return environment["NO_COLOR"].map { !$0.isEmpty } == true ? .mono : possible
  }
}
