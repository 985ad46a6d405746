// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import Foundation
import Testing

/// Test data that is handed around beside the repository: the directory that `HEARTH_SPEC` names, or `shared/spec` next
/// to one of the directories above this file.
enum SpecFiles {
  static let directory: URL? = {
    if let path = ProcessInfo.processInfo.environment["HEARTH_SPEC"] { return URL(fileURLWithPath: path) }
    var parent = URL(fileURLWithPath: #filePath)
    while parent.path != "/" {
      parent.deleteLastPathComponent()
      let candidate = parent.appendingPathComponent("shared/spec")
      if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
    }
    return nil
  }()

  static let areMissing: Comment = "set HEARTH_SPEC to the directory with the spec data"

  /// The names of the JSON files in a folder, without their ending, sorted. None if the spec data are missing.
  static func names(in folder: String) -> [String] {
    guard let directory else { return [] }
    let entries = try? FileManager.default.contentsOfDirectory(atPath: directory.appendingPathComponent(folder).path)
    return (entries ?? []).filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
  }

  static func json(_ name: String, in folder: String) throws -> JSONSyntax {
    let file = try #require(directory).appendingPathComponent("\(folder)/\(name).json")
    return try JSONSyntax(parsing: String(decoding: try Data(contentsOf: file), as: UTF8.self))
  }
}
