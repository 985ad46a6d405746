// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import Foundation

/// The connection that is used where no option names a backend: that of `$HEARTH_CONNECTION`, else the one that
/// `hearth connections use` has chosen.
package struct DefaultConnection: Hashable, Sendable {
  /// The reason why a connection is used.
  package enum Source: Codable, Hashable, Sendable {
    case environment, chosen

    /// The name of the connection in complaints about options.
    func name(of connection: String) -> String {
      switch self {
      case .environment: "$\(DefaultConnection.variable) (\(connection))"
      case .chosen: "the default connection \(connection)"
      }
    }

    /// A sentence on how to go elsewhere.
    package var remark: String {
      switch self {
      case .environment: "$\(DefaultConnection.variable) names it."
      case .chosen: "'hearth connections use' has made it the default; 'hearth connections use --none' ends that."
      }
    }
  }

  package static let variable = "HEARTH_CONNECTION"

  package let name: String
  package let source: Source

  /// - Returns: `nil` if there is none. An empty variable means none, whatever was chosen; so does a variable that
  ///   names an emulator, for what was chosen.
  package init?(_ paths: Paths, _ environment: [String: String]) {
    if let named = environment[Self.variable] {
      guard !named.isEmpty else { return nil }
      (name, source) = (named, .environment)
      return
    }
    guard environment[RemoteOptions.emulatorVariable]?.isEmpty != false, let chosen = Self.chosen(paths) else {
      return nil
    }
    (name, source) = (chosen, .chosen)
  }

  /// The connection that `hearth connections use` has chosen; `nil` for none.
  private static func chosen(_ paths: Paths) -> String? {
    // A choice that cannot be read is none.
    guard let text = try? String(contentsOfFile: paths.chosenConnection, encoding: .utf8) else { return nil }
    let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
    return name.isEmpty ? nil : name
  }

  /// Notes the choice of a connection, or that none is used.
  package static func choose(_ name: String?, _ paths: Paths) throws(CommandFailure) {
    let url = URL(filePath: paths.chosenConnection)
    do {
      guard let name else {
        if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
        return
      }
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try Data("\(name)\n".utf8).write(to: url, options: .atomic)
    } catch {
      throw CommandFailure(.cannotCreate, "\(paths.short(url.path)) cannot be written: \(error.localizedDescription)")
    }
  }
}
