// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Temporary folders and an environment for one test. The folders go with the value.
final class Surroundings {
  let folder: URL
  var environment: [String: String]

  /// The program under test: the one that `HEARTH_BINARY` names, or that which the build puts beside the test bundle.
  static let hearth = ProcessInfo.processInfo.environment["HEARTH_BINARY"] ?? built("hearth")

  /// The path of a program that was built with the tests.
  static func built(_ name: String) -> String {
    let own = URL(filePath: CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0])
    return own.deletingLastPathComponent().appending(path: name).path
  }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "hearth-e2e-\(UUID().uuidString.prefix(8))")
    for name in ["data", "state", "config"] {
      try FileManager.default.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
    }
    let path = folder.path
    environment = [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": path, "LANG": "C.UTF-8",
      "TERM": "xterm-256color", "TZ": "UTC", "SHELL": "/bin/sh", "EDITOR": "\(path)/editor",
      "XDG_DATA_HOME": "\(path)/data", "XDG_STATE_HOME": "\(path)/state", "XDG_CONFIG_HOME": "\(path)/config",
    ]
    // What a sanitizer needs, where the program was built with one.
    for (name, value) in ProcessInfo.processInfo.environment where name.hasSuffix("SAN_OPTIONS") || name == "LD_PRELOAD"
    {
      environment[name] = value
    }
    // Writes the text that the test left in `edit` over the one it is given; keeps what it was given.
    try write("editor", "#!/bin/sh\ncp \"$1\" '\(path)/given'\ncp '\(path)/edit' \"$1\"\n")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(path)/editor")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var cache: String { folder.appending(path: "data/hearth/backend/cache/hearth/%28default%29").path }
  var backend: String { folder.appending(path: "data/hearth/backend").path }

  func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: folder.appending(path: name))
  }

  /// Writes `config.toml`.
  func configure(_ text: String) throws {
    try FileManager.default.createDirectory(
      at: folder.appending(path: "config/hearth/themes"), withIntermediateDirectories: true)
    try write("config/hearth/config.toml", text)
  }

  func text(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }
}

/// Whether the tools that these tests drive are there.
enum Tools {
  static let hasTmux = has("tmux")

  static func has(_ program: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }
}
