// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import FirestoreJSON
import FirestoreLocal
import FirestoreModel
import Foundation
import TerminalTheme

/// `hearth paths`: prints where all files are.
package struct PathsCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "paths", abstract: "Print the files and folders that hearth uses.",
    discussion: """
      The files need not exist. The backend and cache options select the data and the cache.
      """)

  @Flag(help: "Print one JSON object.")
  var json = false

  @OptionGroup var storage: StorageOptions

  package init() {}

  package func run() throws {
    let paths = Paths.ofProcess
    let locations = storage.locations(paths)
    let data: String? = if case .embedded(let folder) = locations.backend { folder } else { nil }
    let cache: String? = if case .directory(let folder) = locations.cache { folder } else { nil }
    let rows: [(name: String, path: String?)] = [
      ("config", paths.configurationFile), ("connections", paths.connectionsFile),
      ("default", paths.chosenConnection), ("state", paths.state),
      ("remembered", paths.memoryFile),
      ("listeners", paths.listenerFolder),
      ("history", paths.shellHistory), ("log", paths.logFile), ("data", data), ("cache", cache),
    ]
    let output = OutputFile.standard()
    if json {
      var object = Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.path.map { [$0] } ?? []) })
      object["themes"] = paths.themeFolders
      try output.data(line: try Self.json(object, lists: ["themes"]))
    } else {
      for (name, path) in rows { try output.line(Self.row(name, path ?? Self.absent(name, locations))) }
      for folder in paths.themeFolders { try output.line(Self.row("themes", folder)) }
    }
    try output.flush()
  }

  private static func row(_ name: String, _ path: String) -> ShownText {
    "\(name)\(String(repeating: " ", count: max(1, 12 - name.count)))\(path)"
  }

  private static func absent(_ name: String, _ locations: StorageOptions.Locations) -> String {
    if name == "data", case .remote = locations.backend { return "(at the server)" }
    return "(in memory)"
  }

  /// Creates a JSON object. The values of the names in `lists` are arrays. All other values are strings or null.
  private static func json(_ object: [String: [String]], lists: Set<String>) throws -> String {
    let values = object.mapValues { $0 as Any }.map { name, value -> (String, Any) in
      guard !lists.contains(name) else { return (name, value) }
      return (name, object[name]?.first.map { $0 as Any } ?? NSNull())
    }
    let data = try JSONSerialization.data(
      withJSONObject: Dictionary(uniqueKeysWithValues: values), options: [.sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self)
  }
}
