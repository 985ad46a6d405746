// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// A palette entry of a theme.
package enum ThemeColor: Hashable, Sendable {
  /// The terminal's own foreground or background.
  case terminal
  /// One of the eight named colours, as the user has set it.
  case ansi(AnsiColor)
  /// A fixed colour, with substitutes where fewer colours exist; `nil` takes the nearest one.
  case rgb(RGB, c256: UInt8?, c16: AnsiColor?)

  /// The colour as shown at a depth; `nil` when only the terminal knows.
  package func rgb(at depth: ColorDepth) -> RGB? {
    guard case .rgb(let color, let c256, _) = self else { return nil }
    return depth == .trueColor ? color : XtermPalette.color(c256 ?? XtermPalette.nearest(to: color))
  }
}

/// A colour in the form that a terminal of some depth takes.
package enum ScreenColor: Hashable, Sendable {
  case terminal
  /// A number of the terminal's palette.
  case index(UInt8)
  case rgb(RGB)
}

/// The number of colours that a terminal can show.
package enum ColorDepth: Int, CaseIterable, Comparable, Hashable, Sendable {
  case mono, eight, sixteen, c256, trueColor

  package static func < (one: ColorDepth, two: ColorDepth) -> Bool { one.rawValue < two.rawValue }
}
