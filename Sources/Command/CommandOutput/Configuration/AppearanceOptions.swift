// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import TerminalTheme

/// Messages for the user at the start.
package enum Notices {
  /// One line for each problem. Problems of the theme come last, since the screen shows the newest line, and name the
  /// theme that is shown instead.
  package static func about(_ problems: [String], _ theme: ThemeChoice, _ paths: Paths) -> [String] {
    let passedOver = theme.problems.map(paths.short)
    var all: [String] = []
    for problem in problems.map(paths.short) where !all.contains(problem) && !passedOver.contains(problem) {
      all.append(problem)
    }
    all += passedOver.dropLast()
    if let last = passedOver.last {
      all.append("\(last)\(last.hasSuffix("?") ? "" : ".") The theme is \(theme.theme.slug).")
    }
    return all
  }
}

/// The options for the look of the screen.
package struct AppearanceOptions: ParsableArguments {
  package enum Color: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never

    /// The colour depth; `nil` leaves it to NO_COLOR and the terminal, which has the last word in any case.
    package var depth: ColorDepth? {
      switch self {
      case .auto: nil
      case .always: .trueColor
      case .never: .mono
      }
    }
  }

  @Option(help: ArgumentHelp("Theme; T in the dashboard shows them all.", valueName: "name"))
  package var theme: String?

  @Option(
    help: "When to use colour. Default: what the configuration says, else as many as the terminal has (auto).")
  package var color: Color?

  @Flag(help: "Leave the mouse to the terminal.")
  var noMouse = false

  /// The colour depth: the option's, else the configuration's; `nil` leaves it to NO_COLOR and the terminal.
  package func depth(_ preferences: Preferences) -> ColorDepth? { (color ?? preferences.file.color ?? .auto).depth }

  package func mouse(configured: Bool?) -> Bool { noMouse ? false : configured ?? true }

  /// - Throws: a usage error with the nearest name for a theme that does not exist.
  package func theme(_ preferences: Preferences, background: Theme.Variant?) throws -> ThemeChoice {
    do throws(ThemeError) {
      return try ThemeChoice.make(option: theme, preferences, background: background)
    } catch {
      throw ValidationError(error.line == nil ? error.reason : error.description)
    }
  }

  package init() {}
}
