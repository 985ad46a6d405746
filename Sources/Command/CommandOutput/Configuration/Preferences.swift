// SPDX-License-Identifier: Apache-2.0
package import Dashboard
package import TerminalTheme

/// All settings for the dashboard in a user's files.
package struct Preferences: Sendable {
  package var file: ConfigurationFile
  package var keymap: Keymap
  package var catalog: ThemeCatalog
  package var remembered: RememberedChoices
  /// The themes of the picker. One that cannot be read is among them; choosing it reports why.
  package var themes: [DashboardConfiguration.Theme]
  /// The entries that were left out of the files, each as `file:line: reason`.
  package var problems: [String]
  /// The configuration file's name in messages.
  package let fileName: String
  package private(set) var hasKeyProblems = false

  package static func read(_ paths: Paths) -> Preferences {
    Preferences(
      file: ConfigurationFile.read(paths.configurationFile, name: paths.short(paths.configurationFile)),
      catalog: ThemeCatalog(directories: paths.themeFolders), remembered: RememberedChoices.read(paths.memoryFile),
      paths)
  }

  init(file: ConfigurationFile, catalog: ThemeCatalog, remembered: RememberedChoices, _ paths: Paths) {
    self.file = file
    self.catalog = catalog
    self.remembered = remembered
    fileName = paths.short(paths.configurationFile)
    let (keymap, keyProblems) = Keymap.standard.remapped(file.keys)
    self.keymap = keymap
    hasKeyProblems = !keyProblems.isEmpty
    themes = catalog.slugs.map {
      DashboardConfiguration.Theme(
        slug: $0, name: catalog.name(of: $0), isLight: catalog.isLight($0), border: catalog.border(of: $0))
    }
    problems = file.problems
    problems += keyProblems.map { problem in "\(fileName)\(problem.line.map { ":\($0)" } ?? ""): \(problem.reason)" }
    for slug in catalog.ownSlugs {
      problems += catalog.check(named: slug).map { $0.errors.map { paths.short("\($0)") } } ?? []
    }
  }
}
