// SPDX-License-Identifier: Apache-2.0
import FirestoreRules

/// A file of rules as it was read and compiled.
struct RulesSource {
  /// More than rules may have, so that the compiler says how much they may.
  private static let mostBytes = 1024 * 1024

  let name: String
  /// `nil` if a problem is an error.
  let ruleset: Ruleset?
  /// With file, line and column.
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
  /// With file, line and column, unless it is about the whole file.
  var text: String {
    let place = line > 0 ? "\(fileName):\(line):\(column)" : fileName
    return "\(place): \(isError ? "error" : "warning"): \(message)"
  }
}

extension InputBytes {
  /// All of it as text.
  /// - Throws: `badData` for more bytes, and for what is no UTF-8.
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
