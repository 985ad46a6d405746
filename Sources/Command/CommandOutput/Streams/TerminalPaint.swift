// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TerminalCanvas
package import TerminalTheme

/// Colours for the output of commands, by the roles of the user's theme, in the terminal's own sixteen colours.
package struct TerminalPaint: Sendable {
  /// The theme; `nil` for no colours.
  package let theme: Theme?

  package static let none = TerminalPaint(theme: nil)

  /// The colours for this process; none if `NO_COLOR` is set, the configuration wants none, or the terminal has none.
  package static func ofProcess() -> TerminalPaint {
    let environment = ProcessInfo.processInfo.environment
    if environment["NO_COLOR"]?.isEmpty == false || ["dumb", nil].contains(environment["TERM"]) { return .none }
    let preferences = Preferences.read(.ofProcess)
    if preferences.file.color == .never { return .none }
    // Faults of the user's themes are reported by the dashboard.
    let choice = try? ThemeChoice.make(option: nil, preferences, background: nil)
    return TerminalPaint(theme: choice?.theme)
  }

  package func text(_ text: ShownText, _ role: Role) -> ShownText {
    guard let theme, !text.isEmpty else { return text }
    var style = theme.resolved(role, at: .sixteen)
    style.background = .terminal
    let parameters = style.sgrParameters
    return parameters == "0" ? text : "\u{1B}[\(parameters)m\(text)\u{1B}[0m"
  }
}
