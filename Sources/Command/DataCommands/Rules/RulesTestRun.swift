// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import CommandTransfer
import FirestoreJSON
import FirestoreModel
import FirestoreRules

/// Cases that are compared with what rules decide.
struct RulesTestRun {
  private static let mostBytes = 64 * 1024 * 1024

  private let ruleset: Ruleset
  private let rulesName: String
  private(set) var count = 0
  private(set) var failures = 0

  init(_ ruleset: Ruleset, name: String) {
    self.ruleset = ruleset
    rulesName = name
  }

  var summary: String { "\(Self.cases(count)), \(count - failures) as expected" }
  var complaint: String { "\(failures) of \(Self.cases(count)) \(failures == 1 ? "was" : "were") decided otherwise." }

  private static func cases(_ count: Int) -> String { count == 1 ? "1 case" : "\(count) cases" }

  /// Tries the cases of a file and prints those with another result than expected.
  mutating func test(_ path: String, _ output: OutputFile) throws {
    var input = try InputBytes(path)
    var reader = RulesCaseReader()
    let text = try input.text(atMost: Self.mostBytes)
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.allSatisfy(\.isWhitespace) { continue }
      let place = "\(input.name):\(index + 1)"
      let read: RulesCase?
      do throws(JSONError) { read = try reader.read(try JSONSyntax(parsing: String(line))) } catch {
        throw CommandFailure(.badData, "\(place):\(error.column): \(error.reason)")
      }
      if let content = read, let complaint = complaint(content) { try output.line("\(place): \(complaint)") }
    }
  }

  private mutating func complaint(_ content: RulesCase) -> String? {
    count += 1
    let verdict = ruleset.decide(content.request, content.documents)
    if verdict.isAllowed == content.expectsAllow { return nil }
    failures += 1
    let request = "\(content.request.method.rawValue) \(content.request.path.text)"
    let deciding = verdict.decidingLine.map { ", \(rulesName):\($0)" } ?? ""
    let what = content.name.map { "\($0): " } ?? ""
    if verdict.isAllowed { return "\(what)\(request) is allowed\(deciding)" }
    let reason = verdict.denial.split(whereSeparator: \.isNewline).joined(separator: " ")
    return "\(what)\(request) is denied\(deciding): \(reason)"
  }
}
