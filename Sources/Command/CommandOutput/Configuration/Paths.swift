// SPDX-License-Identifier: Apache-2.0
import Foundation
import TerminalTheme

import enum Hearth.StandardDirectories

/// The folders of the XDG base directory specification.
package struct Paths: Sendable {
  /// `$XDG_DATA_HOME/hearth`: the backend's data and the cache.
  package let data: String
  /// `$XDG_STATE_HOME/hearth`: the log, and the dashboard's saved state.
  package let state: String
  /// `$XDG_CONFIG_HOME/hearth/config.toml`.
  package let configurationFile: String
  /// `$XDG_CONFIG_HOME/hearth/connections.toml`.
  package let connectionsFile: String
  /// The folders with the user's theme files. If several folders contain a theme, the first one is used.
  package let themeFolders: [String]
  package let home: String

  /// The file of the choices that the dashboard remembers.
  package var memoryFile: String { state + "/remembered.json" }
  /// The folder of the listeners that are reopened at the next start, with a file for each database.
  package var listenerFolder: String { state + "/listeners" }
  /// The file with the name of the default connection.
  package var chosenConnection: String { state + "/connection" }
  /// The file with the lines typed in `hearth shell`.
  package var shellHistory: String { state + "/shell-history" }
  /// The file with the last copied text that was too long for the terminal's clipboard.
  package var clipboardFile: String { state + "/clip" }
  package var logFile: String { Log.file(in: state) }

  /// A path in its short form: `~` replaces the home folder.
  package func short(_ text: String) -> String { home.count > 1 ? text.replacing(home + "/", with: "~/") : text }

  package static var ofProcess: Paths { Paths(environment: ProcessInfo.processInfo.environment) }

  init(environment: [String: String]) {
    let home = StandardDirectories.home(environment)
    self.home = home
    func folder(_ variable: String, _ fallback: String) -> String {
      // The specification requires relative values to be ignored.
      environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/\(fallback)"
    }
    data = StandardDirectories.data(environment)
    state = folder("XDG_STATE_HOME", ".local/state") + "/hearth"
    let configuration = folder("XDG_CONFIG_HOME", ".config") + "/hearth"
    configurationFile = configuration + "/config.toml"
    connectionsFile = configuration + "/connections.toml"
    themeFolders = ThemeCatalog.userDirectories(environment: environment)
  }
}

/// A path that was typed where no shell expands it.
package enum UserPath {
  /// Makes a path absolute. `~/x` is relative to the home folder, any other path to the working folder.
  package static func absolute(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] else {
      return path
    }
    return home + path.dropFirst()
  }
}
