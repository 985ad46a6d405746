// SPDX-License-Identifier: Apache-2.0
package import TerminalTheme

/// The theme that the dashboard shows, and its source: the option, else the configuration, else the last choice in the
/// picker, else the terminal's background. A theme that cannot be used is reported, and the next source taken.
package struct ThemeChoice: Sendable {
  package enum Source: Hashable, Sendable {
    case option
    case configuration(line: Int?)
    case remembered
    /// No choice: dark or light by the terminal's background, dark if that is unknown.
    case terminal
  }

  package var theme: Theme
  package var source: Source
  /// The reasons why other themes were passed over.
  package var problems: [String]
  /// The brightness of the terminal's background, if it is known.
  package var background: Theme.Variant?

  /// - Throws: only for the option, which can be corrected at once.
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
    if let name = preferences.remembered.theme { sources.append((name, .remembered, "remembered from before: ")) }
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

  /// Ember on dark terminals and paper on light ones, the user's own files of these names if they can be used.
  package static func byDefault(_ background: Theme.Variant?, _ catalog: ThemeCatalog) -> Theme {
    let name = background == .light ? "paper" : "ember"
    for catalog in [catalog, ThemeCatalog()] {
      // A fault of a user's file is reported with all others.
      if let theme = try? catalog.theme(named: name).theme { return theme }
    }
    return Theme(slug: name, name: name, variant: .dark, foreground: .terminal, background: .terminal)
  }
}
