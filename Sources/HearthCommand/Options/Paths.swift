// SPDX-License-Identifier: Apache-2.0
import Foundation
import TOMLKit
import TerminalCanvas
import TerminalTheme

import enum Hearth.StandardDirectories

/// The folders of the XDG base directory specification.
struct Paths: Sendable {
  /// `$XDG_DATA_HOME/hearth`: the backend's data and the cache.
  let data: String
  /// `$XDG_STATE_HOME/hearth`: the log.
  let state: String
  /// `$XDG_CONFIG_HOME/hearth/config.toml`.
  let configurationFile: String
  /// Where users put theme files, the first to be found wins.
  let themeFolders: [String]

  static var ofProcess: Paths { Paths(environment: ProcessInfo.processInfo.environment) }

  init(environment: [String: String]) {
    let home = StandardDirectories.home(environment)
    func folder(_ variable: String, _ fallback: String) -> String {
      // The specification says to ignore relative values.
      environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/\(fallback)"
    }
    data = StandardDirectories.data(environment)
    state = folder("XDG_STATE_HOME", ".local/state") + "/hearth"
    let configuration = folder("XDG_CONFIG_HOME", ".config") + "/hearth"
    configurationFile = configuration + "/config.toml"
    themeFolders = ThemeCatalog.userDirectories(environment: environment)
  }
}

/// `config.toml`: what a user wants every time. A bad file changes nothing and is named with its line.
struct ConfigurationFile: Sendable {
  enum GlyphSet: String, Sendable {
    case auto, unicode, ascii

    /// `nil` leaves it to the locale.
    var choice: Glyphs? {
      switch self {
      case .auto: nil
      case .unicode: .unicode
      case .ascii: .ascii
      }
    }
  }

  var theme: String?
  var mouse: Bool?
  var glyphs = GlyphSet.auto

  static let template = """
    # hearth reads this from $XDG_CONFIG_HOME/hearth/config.toml (usually ~/.config/hearth/config.toml).
    theme = "ember"     # any name from the picker (T), or a file in the themes folder beside this one
    mouse = true        # % toggles it at run time
    glyphs = "auto"     # auto, unicode or ascii

    """

  /// - Returns: the configuration, and one line about what is wrong with the file if something is.
  static func read(_ path: String) -> (ConfigurationFile, error: String?) {
    guard let source = try? String(contentsOfFile: path, encoding: .utf8) else {
      // Most users have none.
      return (ConfigurationFile(), nil)
    }
    do {
      return (try parse(source, path), nil)
    } catch let error as ConfigurationError {
      return (ConfigurationFile(), error.message)
    } catch let error as TOMLParseError {
      return (ConfigurationFile(), "\(path):\(error.source.begin.line): \(error.description)")
    } catch {
      return (ConfigurationFile(), "\(path): \(error)")
    }
  }

  private struct ConfigurationError: Error { var message: String }

  private static func parse(_ source: String, _ path: String) throws -> ConfigurationFile {
    let table = try TOMLTable(string: source)
    var file = ConfigurationFile()
    func problem(_ key: String, _ reason: String) -> ConfigurationError {
      let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
      let line = (lines.firstIndex { $0.drop(while: \.isWhitespace).hasPrefix(key) } ?? 0) + 1
      return ConfigurationError(message: "\(path):\(line): \(reason)")
    }
    for key in table.keys {
      switch key {
      case "theme":
        guard let theme = table[key]?.string else { throw problem(key, "theme must be a name in quotes") }
        file.theme = theme
      case "mouse":
        guard let mouse = table[key]?.bool else { throw problem(key, "mouse must be true or false") }
        file.mouse = mouse
      case "glyphs":
        guard let glyphs = table[key]?.string.flatMap(GlyphSet.init) else {
          throw problem(key, "glyphs must be \"auto\", \"unicode\" or \"ascii\"")
        }
        file.glyphs = glyphs
      default:
        throw problem(key, "unknown setting \"\(key)\"; known are theme, mouse and glyphs")
      }
    }
    return file
  }
}
