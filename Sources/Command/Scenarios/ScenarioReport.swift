// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import FirestoreJSON
import FirestoreModel

/// Formats the output of scenario runs.
package struct ScenarioReport: Sendable {
  package enum Form: String, Sendable, CaseIterable {
    case text, json, tap, junit
  }

  private struct Case {
    var name: String
    var seconds: Double
    var failure: String?
  }

  private let form: Form
  private var finished: [Case] = []
  private var steps = 0

  package init(_ form: Form) { self.form = form }

  /// - Parameter isAlone: whether this is the only scenario. In this case its name is not printed.
  /// - Returns: the lines before the first step.
  package func begin(_ scenario: Scenario, isAlone: Bool) -> [String] {
    guard form == .text, !isAlone else { return [] }
    return ["\(scenario.name): \(scenario.summary)"]
  }

  /// - Returns: the lines of a completed step.
  package func lines(_ done: ScenarioRun.Done, of scenario: Scenario) -> [String] {
    lines(
      of: done.step.text, at: done.step.line, in: scenario.name, after: done.elapsed, Self.text(done.elapsed),
      done.output)
  }

  private func lines(
    of step: String, at line: Int, in name: String, after time: Duration, _ place: String, _ output: [String]
  ) -> [String] {
    switch form {
    case .text: ["\(place)  ok  \(step)"] + output.map { "            \($0)" }
    case .json:
      [
        DocumentJSON.line(
          of: [
            "type": .string("step"), "scenario": .string(name), "line": .integer(Int64(line)), "step": .string(step),
            "seconds": .double(time / .seconds(1)), "output": .array(output.map { .string($0) }),
          ] as Fields)
      ]
    case .tap, .junit: []
    }
  }

  /// - Returns: the lines at the end of a scenario.
  package mutating func end(_ scenario: Scenario, after time: Duration, _ failure: CommandFailure?) -> [String] {
    let own = Case(name: scenario.name, seconds: time / .seconds(1), failure: failure?.message)
    finished.append(own)
    switch form {
    case .text, .junit: return []
    case .json:
      var fields =
        [
          "type": .string("end"), "scenario": .string(own.name), "isPassed": .boolean(own.failure == nil),
          "seconds": .double(own.seconds),
        ] as Fields
      if let failure = own.failure { fields["failure"] = .string(failure) }
      return [DocumentJSON.line(of: fields)]
    case .tap:
      let line = "\(own.failure == nil ? "ok" : "not ok") \(finished.count) - \(own.name)"
      guard let failure = own.failure else { return [line] }
      return [line, "  ---", "  message: \(JSONSyntax(.string(failure)).lineText)", "  ..."]
    }
  }

  /// - Returns: the lines after the last scenario.
  package func finish() -> [String] {
    switch form {
    case .text, .json: return []
    case .tap: return ["1..\(finished.count)"]
    case .junit:
      let failures = finished.count { $0.failure != nil }
      let cases = finished.flatMap { one -> [String] in
        let head = "  <testcase classname=\"hearth.play\" name=\"\(Self.xml(one.name))\" time=\"\(one.seconds)\""
        guard let failure = one.failure else { return [head + "/>"] }
        return [head + ">", "    <failure message=\"\(Self.xml(failure))\"/>", "  </testcase>"]
      }
      return [
        #"<?xml version="1.0" encoding="UTF-8"?>"#,
        "<testsuite name=\"hearth.play\" tests=\"\(finished.count)\" failures=\"\(failures)\">",
      ] + cases + ["</testsuite>"]
    }
  }

  /// The time in seconds with milliseconds, right-aligned.
  private static func text(_ time: Duration) -> String {
    let milliseconds = Int(time / .milliseconds(1))
    let fraction = String(milliseconds % 1000)
    let text = "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
    return String(repeating: " ", count: max(0, 8 - text.count)) + text
  }

  private static func xml(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
  }
}
