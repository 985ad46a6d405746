// SPDX-License-Identifier: Apache-2.0
package import Foundation
import Synchronization

/// Firestore's published test data, which are handed around beside the repository. All suites look for them here.
package enum SpecFiles {
  /// Where they are; `nil` if they are not there.
  package static let directory = find(
    environment: ProcessInfo.processInfo.environment, above: URL(fileURLWithPath: #filePath))

  /// The directory that `HEARTH_SPEC` names, whether it exists or not, else `shared/spec` beside or in one of the
  /// directories above a file.
  package static func find(environment: [String: String], above file: URL) -> URL? {
    if let path = environment["HEARTH_SPEC"], !path.isEmpty { return URL(fileURLWithPath: path) }
    var parent = file
    while parent.path != "/" {
      parent.deleteLastPathComponent()
      let candidate = parent.appendingPathComponent("shared/spec")
      if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
    }
    return nil
  }

  /// Whether a suite can run. If the data are absent, standard error says once for each suite what is not tested; with
  /// `HEARTH_SPEC_REQUIRED` the suite runs all the same, and fails.
  package static func areThere(for suite: String) -> Bool {
    if directory != nil { return true }
    let isRequired = ProcessInfo.processInfo.environment["HEARTH_SPEC_REQUIRED"] != nil
    if told.withLock({ $0.insert(suite).inserted }) {
      FileHandle.standardError.write(Data((notice(for: suite, isRequired: isRequired) + "\n").utf8))
    }
    return isRequired
  }

  package static func notice(for suite: String, isRequired: Bool) -> String {
    "SPEC DATA ABSENT: \(suite) \(isRequired ? "fails" : "is not tested"). "
      + "Set HEARTH_SPEC to the directory with the spec data, or put it beside the clone as shared/spec."
  }

  private static let told = Mutex<Set<String>>([])

  /// The names of the JSON files in a folder, without their ending, sorted. None if the data are absent.
  package static func names(in folder: String) -> [String] {
    guard let directory else { return [] }
    let entries = try? FileManager.default.contentsOfDirectory(atPath: directory.appendingPathComponent(folder).path)
    return (entries ?? []).filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
  }

  /// The contents of a file, by its path below `directory`.
  /// - Throws: also if the data are absent.
  package static func data(_ path: String) throws -> Data {
    guard let directory else { throw CocoaError(.fileNoSuchFile) }
    return try Data(contentsOf: directory.appendingPathComponent(path))
  }
}
