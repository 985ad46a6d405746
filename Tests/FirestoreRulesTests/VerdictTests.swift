// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRules
import Testing

@Suite("Verdicts of Google's emulator")
struct VerdictTests {
  @Test(
    "Every verdict is the emulator's, but for those that differ on purpose",
    arguments: [("conditions", 700), ("queries", 800), ("requests", 1100)])
  func verdicts(_ name: String, _ least: Int) throws {
    let table = try VerdictTable(name)

    #expect(table.lines.count >= least)
    for line in table.lines {
      let (ruleset, issues) = Ruleset.compile([RulesFile(name: "firestore.rules", content: line.rules)])
      var verdict = "invalid"
      var said = issues.first { $0.isError }?.message ?? ""
      if let ruleset {
        let decision = ruleset.decide(line.content.request, line.content.documents)
        verdict = decision.isAllowed ? "allow" : "deny"
        said = decision.denial
      }
      let isEqual = verdict == line.verdict
      #expect(isEqual == (line.differs == nil), "\(name):\(line.number) is \(verdict), \(said)\n\(line.text)")
    }
  }
}
