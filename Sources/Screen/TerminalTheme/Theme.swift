// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// The styles of all roles. Always complete: a role that a theme file does not define inherits the style of its parent.
package struct Theme: Hashable, Sendable {
  package enum Variant: String, Hashable, Sendable { case dark, light }

  /// The name of the theme's file without its extension.
  package var slug: String
  package var name: String
  package var author: String?
  package var variant: Variant
  /// Whether the theme states that color-blind people can distinguish added, modified and removed rows.
  package var isColorBlindSafe: Bool
  /// Whether blank cells show the terminal's background instead of the theme's background.
  package var usesTerminalBackground: Bool
  /// The border style of panes; `nil` for the borders of the glyph set.
  package var border: BorderStyle?
  /// The colors `fg` and `bg` of the palette.
  package var foreground: ThemeColor
  package var background: ThemeColor
  /// The styles of the roles that the theme or the themes it inherits from define.
  package var styles: [Role: RoleStyle]

  package init(
    slug: String, name: String, author: String? = nil, variant: Variant, isColorBlindSafe: Bool = false,
    usesTerminalBackground: Bool = false, foreground: ThemeColor, background: ThemeColor,
    styles: [Role: RoleStyle] = [:]
  ) {
    self.slug = slug
    self.name = name
    self.author = author
    self.variant = variant
    self.isColorBlindSafe = isColorBlindSafe
    self.usesTerminalBackground = usesTerminalBackground
    self.foreground = foreground
    self.background = background
    self.styles = styles
  }
}

/// The style of one role in a theme. A `nil` foreground is inherited from the parent role, and a `nil` background is
/// the theme's background.
package struct RoleStyle: Hashable, Sendable {
  package var foreground: ThemeColor?
  package var background: ThemeColor?
  package var attributes: Attributes = []
  /// The attributes on a terminal without colors. They replace all other attributes; `nil` for the role's default.
  package var monochrome: Attributes?
}

/// The style of one role on a terminal of a certain depth.
package struct ResolvedStyle: Hashable, Sendable {
  package var foreground: ScreenColor
  package var background: ScreenColor
  package var attributes: Attributes
}

/// The reason why a theme is unusable. Printed as `file:line: reason`.
package struct ThemeError: Error, Hashable, Sendable, CustomStringConvertible {
  package var file: String
  /// The line, counted from 1; `nil` if the error concerns the whole file.
  package var line: Int?
  package var reason: String

  package var description: String { line.map { "\(file):\($0): \(reason)" } ?? "\(file): \(reason)" }
}

/// An entry of a theme file that was ignored. Printed as `file:line: warning: reason`.
package struct ThemeWarning: Hashable, Sendable, CustomStringConvertible {
  package var file: String
  package var line: Int?
  package var reason: String

  package var description: String { "\(file):\(line.map { "\($0):" } ?? "") warning: \(reason)" }
}

extension Theme {
  /// The colors and attributes of a role, including inherited ones.
  package func style(of role: Role) -> RoleStyle {
    if var style = styles[role] {
      style.foreground = style.foreground ?? role.parent.flatMap { self.style(of: $0).foreground } ?? foreground
      style.background = style.background ?? background
      return style
    }
    guard let parent = role.parent else { return RoleStyle(foreground: foreground, background: background) }
    var style = style(of: parent)
    style.attributes.formUnion(role.fallbackAttributes)
    style.monochrome = nil
    return style
  }

  /// The style of a role for a color depth.
  ///
  /// With 8 or 16 colors, the role's standard ANSI style applies, unless the theme has an ANSI name for each of the
  /// role's colors.
  package func resolved(_ role: Role, at depth: ColorDepth) -> ResolvedStyle {
    let style = style(of: role)
    switch depth {
    case .mono:
      return ResolvedStyle(
        foreground: .terminal, background: .terminal, attributes: style.monochrome ?? role.monochrome)
    case .eight, .sixteen:
      if isColorless {
        return ResolvedStyle(foreground: .terminal, background: .terminal, attributes: style.attributes)
      }
      if let named = named(style, hasOwn: styles[role] != nil) { return named }
      let ansi = role.ansi
      return ResolvedStyle(
        foreground: ansi.foreground.map { .index(UInt8($0.index)) } ?? .terminal,
        background: ansi.background.map { .index(UInt8($0.index)) } ?? .terminal, attributes: ansi.attributes)
    case .c256, .trueColor:
      return ResolvedStyle(
        foreground: screenColor(style.foreground, at: depth), background: screenColor(backdrop(style), at: depth),
        attributes: style.attributes)
    }
  }

  /// Whether the theme uses only the terminal's two default colors.
  private var isColorless: Bool {
    let used = styles.values.flatMap { [$0.foreground, $0.background] }.compactMap { $0 } + [foreground, background]
    return used.allSatisfy { $0 == .terminal }
  }

  private func backdrop(_ style: RoleStyle) -> ThemeColor? {
    usesTerminalBackground && style.background == background ? .terminal : style.background
  }

  private func screenColor(_ color: ThemeColor?, at depth: ColorDepth) -> ScreenColor {
    switch color {
    case nil, .terminal: .terminal
    case .ansi(let name): .index(UInt8(name.index))
    case .rgb(let rgb, let c256, _): depth == .trueColor ? .rgb(rgb) : .index(c256 ?? XtermPalette.nearest(to: rgb))
    }
  }

  /// The style with ANSI color names. Returns `nil` unless the theme defines the role, and each color apart from the
  /// default colors has an ANSI name.
  private func named(_ style: RoleStyle, hasOwn: Bool) -> ResolvedStyle? {
    guard hasOwn else { return nil }
    func name(_ color: ThemeColor?, plain: ThemeColor) -> ScreenColor? {
      switch color {
      case .ansi(let name), .rgb(_, _, let name?): .index(UInt8(name.index))
      case nil, .terminal, plain: .terminal
      case .rgb: nil
      }
    }
    guard let ink = name(style.foreground, plain: foreground), let paper = name(style.background, plain: background),
      (ink, paper) != (.terminal, .terminal)
    else { return nil }
    return ResolvedStyle(foreground: ink, background: paper, attributes: style.attributes)
  }
}

/// A color of a theme.
package enum ThemeColor: Hashable, Sendable {
  /// The terminal's default foreground or background.
  case terminal
  /// One of the eight named colors, with the value that the user has set in the terminal.
  case ansi(AnsiColor)
  /// A fixed color, and its substitutes on terminals with fewer colors; `nil` for the nearest color.
  case rgb(RGB, c256: UInt8?, c16: AnsiColor?)

  /// The color that is shown with a color depth; `nil` if only the terminal knows its value.
  package func rgb(at depth: ColorDepth) -> RGB? {
    guard case .rgb(let color, let c256, _) = self else { return nil }
    return depth == .trueColor ? color : XtermPalette.color(c256 ?? XtermPalette.nearest(to: color))
  }
}

/// A color as it is sent to a terminal.
package enum ScreenColor: Hashable, Sendable {
  case terminal
  /// A number in the terminal's palette.
  case index(UInt8)
  case rgb(RGB)
}

/// The count of colors that a terminal can show.
package enum ColorDepth: Int, CaseIterable, Comparable, Hashable, Sendable {
  case mono, eight, sixteen, c256, trueColor

  package static func < (one: ColorDepth, two: ColorDepth) -> Bool { one.rawValue < two.rawValue }
}
