// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import Foundation
package import TerminalCanvas
package import TerminalTheme

/// Messages that are shown to the user at the start.
package enum Notices {
  /// One line for each problem. Problems of the theme are last, because the screen shows the newest line. They say
  /// which theme is used instead.
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

/// The appearance options of a screen.
package struct AppearanceOptions: ParsableArguments {
  package enum Color: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never

    /// The color depth that the option sets. If it is `nil`, NO_COLOR and the terminal determine the depth. The
    /// terminal can always reduce the depth.
    package var depth: ColorDepth? {
      switch self {
      case .auto: nil
      case .always: .trueColor
      case .never: .mono
      }
    }
  }

  @Option(help: ArgumentHelp("Color theme. Press T in the dashboard to list all themes.", valueName: "name"))
  package var theme: String?

  @Option(
    help: "When to use color. Default: the configuration's setting, else the terminal's capabilities (auto).")
  package var color: Color?

  @Flag(help: "Do not use the mouse, so that the terminal can.")
  var noMouse = false

  /// The color depth that the option sets, otherwise the configuration. If it is `nil`, NO_COLOR and the terminal
  /// determine the depth.
  package func depth(_ preferences: Preferences) -> ColorDepth? { (color ?? preferences.file.color ?? .auto).depth }

  package func mouse(configured: Bool?) -> Bool { noMouse ? false : configured ?? true }

  /// - Throws: a usage error for an unknown theme. It suggests a similar name.
  package func theme(_ preferences: Preferences, background: Theme.Variant?) throws -> ThemeChoice {
    do throws(ThemeError) {
      return try ThemeChoice.make(option: theme, preferences, background: background)
    } catch {
      throw ValidationError(error.line == nil ? error.reason : error.description)
    }
  }

  package init() {}
}

/// The dashboard's theme, and how it was chosen: by the option, otherwise the configuration, otherwise the last choice
/// in the picker, otherwise the terminal's background. If a theme is invalid, it is reported and the next of these
/// applies.
package struct ThemeChoice: Sendable {
  package enum Source: Hashable, Sendable {
    case option
    case configuration(line: Int?)
    case remembered
    /// The user has chosen no theme. The theme is dark or light like the terminal's background. If the background is
    /// unknown, it is dark.
    case terminal
  }

  package var theme: Theme
  package var source: Source
  /// The reasons why other themes were skipped.
  package var problems: [String]
  /// The brightness of the terminal's background, if known.
  package var background: Theme.Variant?

  /// - Throws: if the theme of the option is invalid. The user can then correct the command immediately.
  package static func make(
    option: String?, _ preferences: Preferences, background: Theme.Variant?
  ) throws(ThemeError) -> ThemeChoice {
    let catalog = preferences.catalog
    let file = preferences.file
    if let option {
      return ThemeChoice(
        theme: try catalog.theme(named: option).theme, source: .option, problems: [], background: background)
    }
    var problems: [String] = []
    var sources: [(name: String, source: Source, place: String)] = []
    if let name = file.theme {
      let line = file.themeLine.map { ":\($0)" } ?? ""
      sources.append((name, .configuration(line: file.themeLine), "\(preferences.fileName)\(line): "))
    }
    if let name = preferences.remembered.theme { sources.append((name, .remembered, "last choice in the picker: ")) }
    for (name, source, place) in sources {
      do throws(ThemeError) {
        return ThemeChoice(
          theme: try catalog.theme(named: name).theme, source: source, problems: problems, background: background)
      } catch {
        problems.append(error.line == nil && error.file == name ? place + error.reason : "\(error)")
      }
    }
    return ThemeChoice(
      theme: byDefault(background, catalog), source: .terminal, problems: problems, background: background)
  }

  /// The theme `ember` on dark terminals and `paper` on light terminals. If the user has valid theme files with these
  /// names, they are used.
  package static func byDefault(_ background: Theme.Variant?, _ catalog: ThemeCatalog) -> Theme {
    let name = background == .light ? "paper" : "ember"
    for catalog in [catalog, ThemeCatalog()] {
      // An error in a user's file is reported with all others.
      if let theme = try? catalog.theme(named: name).theme { return theme }
    }
    return Theme(slug: name, name: name, variant: .dark, foreground: .terminal, background: .terminal)
  }
}

/// Choices that the user made in the dashboard and that apply again at the next start. Options and the configuration
/// override them. They are in a separate file, because only the user changes the configuration.
package struct RememberedChoices: Codable, Hashable, Sendable {
  package var theme: String?
  /// The commands that were run in the palette, newest last.
  package var commands: [String]?

  /// - Returns: no choices if the file does not exist or cannot be decoded.
  static func read(_ path: String) -> RememberedChoices {
    guard let data = FileManager.default.contents(atPath: path) else { return RememberedChoices() }
    // The choices are of little value: the next choice replaces a damaged file.
    return (try? JSONDecoder().decode(RememberedChoices.self, from: data)) ?? RememberedChoices()
  }

  /// Replaces the file atomically.
  /// - Throws: if it cannot be written.
  package func write(_ path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: url, options: .atomic)
  }
}

/// Colors for the output of commands. They are the colors of roles in the user's theme, chosen from the terminal's
/// sixteen named colors.
package struct TerminalPaint: Sendable {
  /// The theme; `nil` for output without colors.
  package let theme: Theme?

  package static let none = TerminalPaint(theme: nil)

  /// The colors for this process. There are none if `NO_COLOR` is set, the configuration disables them, or the terminal
  /// has no colors.
  package static func ofProcess() -> TerminalPaint {
    let environment = ProcessInfo.processInfo.environment
    if environment["NO_COLOR"]?.isEmpty == false || ["dumb", nil].contains(environment["TERM"]) { return .none }
    let preferences = Preferences.read(.ofProcess)
    if preferences.file.color == .never { return .none }
    // The dashboard reports errors in the user's themes.
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
