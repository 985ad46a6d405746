// SPDX-License-Identifier: Apache-2.0

package import TerminalCanvas

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
