// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import FirestoreJSON
package import FirestoreSpec
import Spelling

/// A published spec test, played over the real core with a server and a clock that its steps move.
package struct SpecScenario: Sendable {
  /// The file in messages.
  package let file: String
  package let test: SpecTest

  package var name: String { test.name }

  /// Whether a text is JSON, which no scenario is.
  package static func isSpec(_ text: String) -> Bool {
    text.first { !$0.isWhitespace }.map { $0 == "{" || $0 == "[" } ?? false
  }

  /// The tests of a file.
  /// - Parameter part: the name of a test, or a part of it; `nil` for all.
  /// - Throws: `badData` with the line and the column of what is no spec test; `noInput` for a name that no test has.
  package static func read(_ text: String, of file: String, only part: String?) throws(CommandFailure) -> [SpecScenario]
  {
    let tests: [SpecTest]
    do throws(SpecFormatError) { tests = try SpecTest.parse(text, file: file) } catch {
      throw CommandFailure(.badData, error.message)
    }
    guard !tests.isEmpty else { throw CommandFailure(.badData, "\(file), line 1, column 1: There is no test in it.") }
    let chosen = part.map { Self.chosen(tests, $0) } ?? tests
    if let part, chosen.isEmpty {
      let near = NearestName.suggestion(for: part, among: tests.map(\.name)).map { " Did you mean \"\($0)\"?" }
      throw CommandFailure(
        .noInput, "\(file): no test is called \"\(part)\".\(near ?? " --show prints all \(tests.count) of them.")")
    }
    return chosen.map { SpecScenario(file: file, test: $0) }
  }

  /// The test of that name; without one, those whose names contain it.
  private static func chosen(_ tests: [SpecTest], _ part: String) -> [SpecTest] {
    let exact = tests.filter { $0.name == part }
    return exact.isEmpty ? tests.filter { $0.name.contains(part) } : exact
  }

  // MARK: Steps

  package struct Step: Hashable, Sendable {
    /// The line of the file.
    package var line: Int
    package var text: String
    package var expectations: [String]
  }

  /// The steps in words.
  package var steps: [Step] {
    let words = SpecWords(test)
    return test.steps.map { step in
      Step(line: step.line, text: words.text(of: step), expectations: words.expectations(of: step))
    }
  }

  /// The test in words, as `--show` prints it.
  package var text: String {
    let lines = steps.flatMap { ["\($0.text)"] + $0.expectations.map { "  \($0)" } }
    return (["# \(name)"] + lines).joined(separator: "\n") + "\n"
  }

  // MARK: Playing

  package enum Outcome: Hashable, Sendable {
    case passed
    /// The number of steps that were as expected, and the first difference.
    case failed(after: Int, CommandFailure)
    case skipped(String)
  }

  /// Plays the test with a cache in memory and with one on the disk, as far as it can have them.
  package func play() -> Outcome {
    var reason = ""
    var hasPlayed = false
    for storage in SpecStorage.allCases {
      if let obstacle = test.reasonToSkip(on: storage) {
        reason = obstacle
        continue
      }
      hasPlayed = true
      guard let mismatch = SpecRun.failure(of: test, on: storage) else { continue }
      let step = test.steps.indices.contains(mismatch.step - 1) ? test.steps[mismatch.step - 1] : nil
      let place = step.map { ", line \($0.line)" } ?? ""
      let cache = storage == .memory ? "in memory" : "on the disk"
      return .failed(
        after: mismatch.step - 1,
        CommandFailure(
          .failure,
          "\(file)\(place), \(name), step \(mismatch.step) \(mismatch.action): \(mismatch.subject): expected "
            + "\(Self.inLine(mismatch.expected)), got \(Self.inLine(mismatch.got)); the cache was \(cache)."))
    }
    return hasPlayed ? .passed : .skipped(reason)
  }

  private static func inLine(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }.joined(separator: "; ")
  }
}

extension SpecFormatError {
  fileprivate var message: String {
    let place = line > 0 ? "\(file), line \(line), column \(column)" : file
    let part = test.map { "test \"\($0)\"" + (step.map { ", step \($0)" } ?? "") }
    return [place, part, reason].compactMap(\.self).joined(separator: ": ")
  }
}
