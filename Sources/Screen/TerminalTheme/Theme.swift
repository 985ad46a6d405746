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
