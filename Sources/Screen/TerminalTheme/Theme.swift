// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// The styles of all roles. Complete by construction: a role that a theme file does not name follows its parent.
package struct Theme: Hashable, Sendable {
  package enum Variant: String, Hashable, Sendable { case dark, light }

  /// The name of the file without its ending.
  package var slug: String
  package var name: String
  package var author: String?
  package var variant: Variant
  /// Whether the theme promises to keep added, modified and removed apart for colour-blind people.
  package var isColorBlindSafe: Bool
  /// Whether blank cells show the terminal's background instead of the theme's.
  package var usesTerminalBackground: Bool
  /// The lines around panes; `nil` leaves them to the set of signs.
  package var border: BorderStyle?
  /// The palette's `fg` and `bg`.
  package var foreground: ThemeColor
  package var background: ThemeColor
  /// The roles that the theme or those it inherits from name.
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

/// The look of one role in a theme. Colours that are `nil` come from the parent's foreground and the theme's
/// background.
package struct RoleStyle: Hashable, Sendable {
  package var foreground: ThemeColor?
  package var background: ThemeColor?
  package var attributes: Attributes
  /// The attributes on a terminal without colours, in place of all others; `nil` for the role's own default.
  package var monochrome: Attributes?

  package init(
    foreground: ThemeColor? = nil, background: ThemeColor? = nil, attributes: Attributes = [],
    monochrome: Attributes? = nil
  ) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
    self.monochrome = monochrome
  }
}

/// The look of one role on a terminal of a certain depth.
package struct ResolvedStyle: Hashable, Sendable {
  package var foreground: ScreenColor
  package var background: ScreenColor
  package var attributes: Attributes

  package init(foreground: ScreenColor, background: ScreenColor, attributes: Attributes) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }
}

/// The reason why a theme cannot be used; prints as `file:line: reason`.
package struct ThemeError: Error, Hashable, Sendable, CustomStringConvertible {
  package var file: String
  /// Counted from 1; `nil` when the file as a whole is at fault.
  package var line: Int?
  package var reason: String

  package init(file: String, line: Int?, reason: String) {
    self.file = file
    self.line = line
    self.reason = reason
  }

  package var description: String { line.map { "\(file):\($0): \(reason)" } ?? "\(file): \(reason)" }
}

/// An entry of a theme file that was ignored; prints as `file:line: warning: reason`.
package struct ThemeWarning: Hashable, Sendable, CustomStringConvertible {
  package var file: String
  package var line: Int?
  package var reason: String

  package init(file: String, line: Int?, reason: String) {
    self.file = file
    self.line = line
    self.reason = reason
  }

  package var description: String { "\(file):\(line.map { "\($0):" } ?? "") warning: \(reason)" }
}

extension Theme {
  /// The colours and attributes of a role with everything inherited filled in.
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

  /// The look of a role at a depth.
  ///
  /// With 8 or 16 colours the role's own ANSI look is used, unless the theme gives an ANSI name for each of its
  /// colours.
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

  /// Whether the theme uses nothing but the terminal's own two colours.
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

  /// The style in ANSI names, if the theme names the role and each colour that differs from the plain ones has a name.
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
