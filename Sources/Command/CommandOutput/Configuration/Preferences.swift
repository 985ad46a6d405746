// SPDX-License-Identifier: Apache-2.0
package import TerminalTheme

/// The settings in a user's files. Those that only the dashboard has are read by `DashboardHost`.
package struct Preferences: Sendable {
  package var file: ConfigurationFile
  package var catalog: ThemeCatalog
  package var remembered: RememberedChoices
  /// The reasons why themes of the user cannot be used, each as `file:line: reason`.
  package let themeProblems: [String]
  /// The configuration file's name in messages.
  package let fileName: String

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
    themeProblems = catalog.ownSlugs.flatMap { slug in
      catalog.check(named: slug).map { $0.errors.map { paths.short("\($0)") } } ?? []
    }
  }
}
