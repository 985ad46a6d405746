// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
import Foundation

/// All tests of a directory.
package struct SpecSuite: Sendable {
  package var tests: [SpecTest]

  package init(tests: [SpecTest]) { self.tests = tests }

  /// Reads every `*_spec_test.json` of a directory, in the order of their names.
  /// - Throws: `SpecFormatError`, also for a directory that has none.
  package init(directory: String) throws(SpecFormatError) {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
      .filter { $0.hasSuffix("_spec_test.json") }.sorted()
    guard !names.isEmpty else {
      throw SpecFormatError(directory, JSONError(line: 0, column: 0, reason: "There is no *_spec_test.json here."))
    }
    tests = []
    for name in names {
      guard let data = FileManager.default.contents(atPath: directory + "/" + name),
        let text = String(data: data, encoding: .utf8)
      else { throw SpecFormatError(name, JSONError(line: 0, column: 0, reason: "The file cannot be read as UTF-8.")) }
      tests += try SpecTest.parse(text, file: name)
    }
  }

  package struct Report: Hashable, Sendable {
    package var passed = 0
    package var failed = 0
    package var skipped = 0
    /// The number of skipped tests by the reason to skip them.
    package var reasons: [String: Int] = [:]

    package var summary: String { "\(passed) passed, \(failed) failed, \(skipped) skipped" }
  }

  /// Runs the tests whose file or name contains `filter`.
  /// - Parameter print: called with each failure and each reason to skip.
  package func run(on storages: [SpecStorage], filter: String? = nil, print: (String) -> Void) -> Report {
    var report = Report()
    for storage in storages {
      for test in tests where test.matches(filter) {
        if let reason = test.reasonToSkip(on: storage) {
          report.skipped += 1
          report.reasons["\(storage.rawValue): \(reason)", default: 0] += 1
        } else if let failure = SpecRun.failure(of: test, on: storage) {
          report.failed += 1
          print("FAIL \(test.file): \(test.name) (\(storage.rawValue))\n  \(failure)")
        } else {
          report.passed += 1
        }
      }
    }
    for (reason, count) in report.reasons.sorted(by: { $0.key < $1.key }) { print("skipped \(count), \(reason)") }
    return report
  }
}

extension SpecTest {
  /// Whether the file's or the test's name contains the text; `nil` matches all.
  package func matches(_ filter: String?) -> Bool {
    filter.map { file.contains($0) || name.contains($0) } ?? true
  }
}

/// An error in a spec file that prevents running it: no JSON, a missing member, or an unknown step or expectation.
package struct SpecFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  package var file: String
  /// The test whose text has the error; `nil` outside of all tests.
  package var test: String?
  /// Counted from 1; `nil` outside of all steps.
  package var step: Int?
  /// 0 if the file cannot be read at all.
  package var line: Int
  package var column: Int
  package var reason: String

  package init(_ file: String, test: String? = nil, step: Int? = nil, _ error: JSONError) {
    self.file = file
    self.test = test
    self.step = step
    line = error.line
    column = error.column
    reason = error.reason
  }

  package var description: String {
    let place = line > 0 ? "\(file):\(line):\(column)" : file
    let part = test.map { "test \"\($0)\"" + (step.map { ", step \($0)" } ?? "") }
    return [place, part, reason].compactMap(\.self).joined(separator: ": ")
  }
}
