// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TerminalTheme

/// How the screen looks.
struct AppearanceOptions: ParsableArguments {
  enum Color: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never

    /// `nil` leaves it to NO_COLOR and the terminal, which has the last word in any case.
    var depth: ColorDepth? {
      switch self {
      case .auto: nil
      case .always: .trueColor
      case .never: .mono
      }
    }
  }

  @Option(help: ArgumentHelp("Theme; T in the dashboard shows them all.", valueName: "name"))
  var theme: String?

  @Option(help: "When to use colour.")
  var color = Color.auto

  @Flag(help: "Leave the mouse to the terminal.")
  var noMouse = false

  func mouse(configured: Bool?) -> Bool { noMouse ? false : configured ?? true }

  /// - Throws: a usage error with the nearest name for a theme that does not exist.
  func theme(configured: String?, in catalog: ThemeCatalog) throws -> Theme {
    let name = theme ?? configured ?? "ember"
    do {
      return try catalog.theme(named: name).theme
    } catch {
      throw ValidationError(error.line == nil ? error.reason : error.description)
    }
  }
}
