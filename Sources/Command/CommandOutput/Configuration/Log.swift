// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import TerminalCanvas

/// The log goes to a file, never to the terminal, which belongs to the screen.
package enum Log {
  package static func file(in folder: String) -> String { folder + "/hearth.log" }

  /// Sends all loggers to `hearth.log` in the folder; without a log if the file cannot be opened.
  package static func start(in folder: String) {
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let path = file(in: folder)
    if !FileManager.default.fileExists(atPath: path) {
      _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    }
    guard let file = FileHandle(forWritingAtPath: path) else { return }
    // Files that cannot be sought, such as pipes, are at their end.
    _ = try? file.seekToEnd()
    LoggingSystem.bootstrap { FileLogHandler(label: $0, file: file) }
  }
}

/// One line per message: time, level, label, message and metadata.
private struct FileLogHandler: LogHandler {
  let label: String
  let file: FileHandle
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  init(label: String, file: FileHandle) {
    self.label = label
    self.file = file
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
