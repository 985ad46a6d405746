// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import CommandTransfer
import FirestoreRules

/// A file of rules, read and compiled.
struct RulesSource {
  /// The bytes that are read, more than rules may have, so that the compiler reports the limit.
  private static let mostBytes = 1024 * 1024

  let name: String
  /// The rules; `nil` if a problem is an error.
  let ruleset: Ruleset?
  /// The problems, each with file, line and column.
  let problems: [String]

  /// - Parameter path: `-` for standard input.
  init(_ path: String) throws(CommandFailure) {
    var input = try InputBytes(path)
    name = input.name
    let text = try input.text(atMost: Self.mostBytes)
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: input.name, content: text)])
    self.ruleset = ruleset
    problems = issues.map(\.text)
  }
}

extension RulesIssue {
  /// The problem with file, line and column, unless it concerns the whole file.
  package var text: String {
    let place = line > 0 ? "\(fileName):\(line):\(column)" : fileName
    return "\(place): \(isError ? "error" : "warning"): \(message)"
  }
}

extension InputBytes {
  /// Reads all input as text.
  /// - Throws: `badData` for more bytes than the limit, and for bytes that are no UTF-8.
  mutating func text(atMost limit: Int) throws(CommandFailure) -> String {
    var bytes: [UInt8] = []
    while true {
      let more = try read(256 * 1024)
      if more.isEmpty { break }
      bytes += more
      if bytes.count > limit { throw CommandFailure(.badData, "\(name) is too large: more than \(limit) bytes.") }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.badData, "\(name) is not text in UTF-8.")
    }
    return text
  }
}
