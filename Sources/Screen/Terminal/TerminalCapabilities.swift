// SPDX-License-Identifier: Apache-2.0

package import TerminalCanvas
package import TerminalTheme

/// The user's terminal settings. They override the values that are detected from the terminal.
package struct TerminalPreferences: Sendable {
  /// The color depth; `nil` for as many colors as the terminal supports.
  package var depth: ColorDepth?
  /// The set of symbols; `nil` for the set that suits the locale.
  package var glyphs: Glyphs?
  package var usesMouse: Bool
  /// Whether the terminal connection counts as slow.
  package var isSlow: Bool
  /// Whether links of the canvas are sent as terminal links (OSC 8).
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

/// Detects the terminal's capabilities from the environment and the terminal description.
enum TerminalCapabilities {
  /// The similar terminal whose description can be used if this machine lacks the terminal's own description, for
  /// example after ssh from a newer machine. `nil` if the terminal is not known to resemble xterm.
  static func relative(of terminal: String) -> String? {
    let families = ["xterm-", "alacritty", "foot", "wezterm", "ghostty", "kitty", "rio", "contour"]
    return families.contains { terminal.hasPrefix($0) } && terminal != "xterm-256color" ? "xterm-256color" : nil
  }

  /// Whether to use 0xRRGGBB colors: the terminal supports them, and neither the user nor the environment requests
  /// fewer colors.
  static func triesDirectColor(environment: [String: String], wish: ColorDepth?) -> Bool {
    let claim = environment["COLORTERM"] ?? ""
    guard wish == .trueColor || claim == "truecolor" || claim == "24bit" else { return false }
    return (wish ?? .trueColor) == .trueColor && (wish != nil || (environment["NO_COLOR"] ?? "").isEmpty)
  }

  /// The color depth of a terminal with `colors` colors.
  ///
  /// `NO_COLOR` (no-color.org) turns colors off unless the user requested a depth. The depth never exceeds what the
  /// terminal supports.
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
