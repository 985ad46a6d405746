// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TerminalTheme

/// What the user should read first.
enum Notices {
  /// One line for each problem, the theme in its place included.
  static func about(_ problems: [String], _ theme: ThemeChoice, _ paths: Paths) -> [String] {
    var all: [String] = []
    for problem in (problems + theme.problems).map(paths.short) where !all.contains(problem) { all.append(problem) }
    if !theme.problems.isEmpty { all.append("The theme is \(theme.theme.slug) instead.") }
    // The screen shows three lines at a time.
    if all.count > 3 { all.append("\(all.count) things are wrong with the configuration; : messages shows all.") }
    return all
  }
}

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
  func theme(_ preferences: Preferences, background: Theme.Variant?) throws -> ThemeChoice {
    do throws(ThemeError) {
      return try ThemeChoice.make(option: theme, preferences, background: background)
    } catch {
      throw ValidationError(error.line == nil ? error.reason : error.description)
    }
  }
}
