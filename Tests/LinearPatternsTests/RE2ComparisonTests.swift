// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinearPatterns
import Testing

/// Compares with Go's package regexp, which is RE2. Its answers are made by `.ci/compare-patterns`, which runs this.
@Suite("Comparison with RE2")
struct RE2ComparisonTests {
  private static let answers = ProcessInfo.processInfo.environment["HEARTH_RE2_ANSWERS"]

  @Test("Random patterns parse, match, find and replace like RE2", .enabled(if: answers != nil))
  func sameAnswers() throws {
    let lines = try String(contentsOfFile: try #require(Self.answers), encoding: .utf8).split(separator: "\n")
    let samples = try lines.map { try JSONDecoder().decode(RE2Sample.self, from: Data($0.utf8)) }

    let differences = samples.enumerated().compactMap { number, sample in
      sample.difference.map {
        "\(number + 1): \(sample.pattern.debugDescription) on \(sample.text.debugDescription): \($0)"
      }
    }

    print(
      "RE2: \(samples.count) patterns, \(samples.count { $0.error == nil }) of them valid, \(samples.count(where: \.some)) found"
    )
    #expect(samples.count { $0.error == nil } > samples.count / 2)
    #expect(
      differences.isEmpty,
      "\(differences.count) of \(samples.count):\n\(differences.prefix(40).joined(separator: "\n"))")
  }
}

/// One line of `.ci/patterns`: a pattern, a text, and RE2's answers.
private struct RE2Sample: Decodable {
  var pattern: String
  var text: String
  var error: String?
  var whole: Bool
  var some: Bool
  /// Matches from left to right, without empty ones right behind another.
  var matches: [String]?
  var replaced: String
  var template: String

  /// RE2's answer and another one; `nil` if there is none.
  var difference: String? {
    let pattern: Pattern
    do throws(PatternError) { pattern = try Pattern(re2: self.pattern) } catch {
      // Long patterns are refused here where RE2 takes much memory (DIFFERENCES.md).
      return self.error == nil && !error.reason.contains("too long") ? "is refused: \(error.text)" : nil
    }
    if let error { return "is read, which RE2 refuses: \(error)" }
    if pattern.matchesWhole(text) != whole { return "whole: \(!whole)" }
    if pattern.matchesSomewhere(text) != some { return "somewhere: \(!some)" }
    var work = 10_000_000
    guard let found = try? pattern.matches(in: text, most: 100, work: &work) else { return "too much work" }
    guard let replaced = try? pattern.replacing(in: text, with: template, work: &work) else { return "not replaced" }
    // An empty match right behind another one is found here, as in Java, and not in Go.
    let nonempty = found.filter { !$0.isEmpty }
    if nonempty != matches?.filter({ !$0.isEmpty }) { return "finds \(found), and RE2 \(matches ?? [])" }
    if found == matches, replaced != self.replaced { return "replaced: \(replaced), and by RE2 \(self.replaced)" }
    return nil
  }
}
