// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What was chosen in the dashboard and holds at the next start too, where neither an option nor the configuration says
/// otherwise. A file of the program's own: the user's configuration is the user's.
struct RememberedChoices: Codable, Hashable, Sendable {
  var theme: String?
  /// What was run in the palette, newest last.
  var commands: [String]?

  /// - Returns: nothing remembered where there is no file, or one that is not understood.
  static func read(_ path: String) -> RememberedChoices {
    guard let data = FileManager.default.contents(atPath: path) else { return RememberedChoices() }
    // Nothing of value is in it: a damaged one is written anew with the next choice.
    return (try? JSONDecoder().decode(RememberedChoices.self, from: data)) ?? RememberedChoices()
  }

  /// Replaces the file in one step.
  /// - Throws: if it cannot be written.
  func write(_ path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: url, options: .atomic)
  }
}
