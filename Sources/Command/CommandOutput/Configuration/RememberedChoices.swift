// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Choices made in the dashboard that hold at the next start too, unless an option or the configuration says otherwise.
/// They are in a file of the program's own: the configuration belongs to the user.
package struct RememberedChoices: Codable, Hashable, Sendable {
  package var theme: String?
  /// The commands that were run in the palette, newest last.
  package var commands: [String]?

  /// - Returns: no choices if there is no file, or one that cannot be decoded.
  static func read(_ path: String) -> RememberedChoices {
    guard let data = FileManager.default.contents(atPath: path) else { return RememberedChoices() }
    // The choices are of little value: a damaged file is replaced with the next choice.
    return (try? JSONDecoder().decode(RememberedChoices.self, from: data)) ?? RememberedChoices()
  }

  /// Replaces the file in one step.
  /// - Throws: if it cannot be written.
  package func write(_ path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: url, options: .atomic)
  }
}
