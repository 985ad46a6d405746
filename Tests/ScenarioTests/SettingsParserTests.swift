// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Testing

@testable import CommandOutput
@testable import Scenarios

/// Rules, bundles, tabs, indexes, sizes and clocks as steps, and what is wrong with others, by line and column.
@Suite struct SettingsParserTests {
  private let parser = ScenarioParser(database: database)

  @Test(
    "An error in a scenario's rules or bundles is reported with its position",
    arguments: [
      ("rules\nmatch /a/{b} {\n  allow read: if ;\n}\nend", "line 3, column 18: "),
      ("offline\nrules\nservice cloud.firestore {\n  match /a {{\n}\nend", "line 4, column "),
      ("rules\nmatch /a/{b} { allow read; }", "line 1: \"rules\" needs an \"end\" below it."),
      ("rules\nmatch /a/{b} {\nend", "line 2, column "),
      ("rules /nowhere/at.all", "line 1, column 7: "),
      ("bundle b", "line 1: \"bundle b\" needs an \"end\" below it."),
      ("bundle b\nend", "line 1: The bundle is empty."),
      ("bundle b\nset a/b {]\nend", "line 2, column 10: "),
      ("bundle b\nquery q a wher b == 1\nend", "line 2, column 11: "),
      ("bundle b\nset a/b {\"at\": {\"$serverTimestamp\": true}}\nend", "line 2, column 5: "),
      ("bundle b\nupdate a/b n=1\nend", "line 2, column 1: \"update\" is not a line of a bundle."),
      ("bundle b form a", "line 1, column 8: Expected a name for the bundle"),
      ("bundle b from a wher x", "line 1, column 17: "),
      ("load b", "line 1: Bundle b does not exist yet"),
      ("client ada shares bob", "line 1: Client bob does not exist yet"),
      ("client ada shares ada", "line 1: Client ada does not exist yet"),
      ("client ada share bob", "line 1: Expected \"user\" and a uid, \"shares\""),
      ("index cities", "line 1, column 7: Expected a collection and its fields"),
      ("index cities state, pop. desc", "line 1, column 20: "),
      ("index cities state up", "line 1, column 14: Expected asc, desc or contains"),
      ("indexes on", "line 1, column 9: Expected automatic, manual or none."),
      ("cache size 12 apples", "line 1, column 7: Expected \"size\""),
      ("cache 12kB", "line 1, column 7: Expected \"size\""),
      ("clock forward 1h", "line 1, column 7: Expected \"ahead\" or \"behind\" and a duration"),
      ("clock ahead 1x", "line 1, column 14: "),
      ("evict cities wher x", "line 1, column 14: "),
      ("expect index cities wher x", "line 1, column 21: "),
      ("expect not cached cities", "line 1: "),
      ("expect streams of ada", "line 1: Expected nothing after \"streams\""),
      ("expect estimate a/b were c == 1", "line 1: Expected \"where\""),
      (
        "expect index a where n == 1 on mine",
        "line 1: A plan belongs to a query, not to a listener. Remove \"on mine\"."
      ),
      ("expect pending 1 on mine", "line 1: \"pending\" does not apply to one listener. Remove \"on mine\"."),
      ("repeat 3 as\noffline\nend", "line 1, column 8: "),
      ("repeat 6000 as n\noffline\nonline\nend", "line 1, column 8: Expected at most 10000 steps in total."),
    ])
  func places(_ text: String, _ message: String) throws {
    let failure = try #require(throws: CommandFailure.self) { try parser.steps(text, of: "file") }
    #expect(failure.status == .badData && failure.message.hasPrefix("file, \(message)"), "\(failure.message)")
  }

  @Test("The loop counter's value replaces its name, also in bundles and nested loops")
  func turns() throws {
    let steps = try parser.steps(
      "repeat 2 as n\nset a/d$n {\"n\": $n}\nrepeat $n\noffline\nend\nbundle b$n\nset a/e$n {}\nend\nend", of: "file")
    #expect(
      steps.map(\.text) == [
        #"set a/d1 {"n": 1}"#, "offline", "bundle b1", #"set a/d2 {"n": 2}"#, "offline", "offline", "bundle b2",
      ])
    guard case .world(.bundle(let bundle)) = steps[6].action, case .documents(let documents, _) = bundle.contents else {
      Issue.record("not a bundle of documents")
      return
    }
    #expect(documents.map(\.key) == [key("a/e2")])
  }

  @Test("Windows line ends are accepted, also inside rules")
  func carriageReturns() throws {
    let text = "rules\r\nmatch /a/{b} {\r\n  allow read: if true;\r\n}\r\nend\r\noffline\r\n"
    let steps = try parser.steps(text, of: "file")
    #expect(steps.map(\.text) == ["rules", "offline"])
  }
}
