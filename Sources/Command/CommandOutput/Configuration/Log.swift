// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import Foundation
import Logging
import TerminalCanvas

/// The log. It is written to a file and never to the terminal, because the dashboard draws there.
package enum Log {
  package static func file(in folder: String) -> String { folder + "/hearth.log" }

  /// Makes all loggers write to a file. Logging is off if `hearth.log` in the state folder cannot be opened.
  /// - Throws: if the file in the options cannot be opened.
  package static func start(_ options: LogOptions, _ paths: Paths) throws(CommandFailure) {
    try? FileManager.default.createDirectory(
      atPath: paths.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let level = Logger.Level(rawValue: options.logLevel.rawValue) ?? .info
    guard let named = options.logFile.map(UserPath.absolute) else {
      _ = start(paths.logFile, level)
      return
    }
    guard start(named, level) else {
      throw CommandFailure(.cannotCreate, "--log-file: \(named) cannot be written.")
    }
  }

  private static func start(_ path: String, _ level: Logger.Level) -> Bool {
    if !FileManager.default.fileExists(atPath: path) {
      _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    }
    guard let file = FileHandle(forWritingAtPath: path) else { return false }
    // Files without seek support, such as pipes, are at their end.
    _ = try? file.seekToEnd()
    LoggingSystem.bootstrap { FileLogHandler(label: $0, file: file, level: level) }
    return true
  }
}

/// The log options of commands with a screen.
package struct LogOptions: ParsableArguments {
  /// The levels of swift-log. Its own type does not conform to the protocols for command-line options.
  package enum Level: String, CaseIterable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error, critical
  }

  @Option(
    help: ArgumentHelp(
      "Write the log to this file. Default: hearth.log in the folder from 'hearth paths'.", valueName: "file"))
  package var logFile: String?

  @Option(help: "Lowest level of messages to log.")
  package var logLevel = Level.info

  package init() {}
}

/// Writes one line per message: time, level, label, message and metadata.
private struct FileLogHandler: LogHandler {
  let label: String
  let file: FileHandle
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level

  init(label: String, file: FileHandle, level: Logger.Level) {
    self.label = label
    self.file = file
    logLevel = level
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    let details = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    let text = "\(Date.now.formatted(.iso8601)) \(event.level) \(label): \(event.message)\(details)"
    // A full disk must not stop the dashboard.
    try? file.write(contentsOf: Data((SafeText.sanitized(text) + "\n").utf8))
  }
}
