// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRules
import Testing

@Suite("Google's emulator verdicts")
struct VerdictTests {
  /// Rules and requests of a table that the emulator refuses, with what it says and what is said here.
  private static func denials(_ name: String) throws -> [(line: VerdictTable.Line, verdict: RulesVerdict)] {
    try VerdictTable(name).lines.compactMap { line in
      guard line.verdict == "deny", !line.denial.isEmpty, line.differs == nil else { return nil }
      let file = RulesFile(name: "firestore.rules", content: line.rules)
      guard let ruleset = Ruleset.compile([file]).ruleset else { return nil }
      return (line, ruleset.decide(line.content.request, line.content.documents))
    }
  }

  @Test(
    "Every denial matches the emulator's text and lines, except intended differences",
    arguments: [("conditions", 220), ("queries", 450), ("requests", 150)])
  func denials(_ name: String, _ least: Int) throws {
    let denials = try Self.denials(name)

    #expect(denials.count >= least, "\(denials.count)")
    for (line, verdict) in denials where verdict.denial != line.denial {
      let theirs = DenialPart.parts(of: line.denial)
      let own = DenialPart.parts(of: verdict.denial)
      #expect(!own.isEmpty && verdict.decidingLine == theirs.last?.line, "\(name):\(line.number) \(verdict.denial)")
      for part in own {
        #expect(theirs.contains { part.says($0) }, "\(name):\(line.number) \(part) \(line.denial)\n\(line.text)")
      }
    }
  }

  @Test(
    "Every verdict matches the emulator's, except intended differences",
    arguments: [("conditions", 700), ("queries", 800), ("requests", 1100)])
  func verdicts(_ name: String, _ least: Int) throws {
    let table = try VerdictTable(name)

    #expect(table.lines.count >= least)
    var asEmulator = 0
    for line in table.lines {
      let (ruleset, issues) = Ruleset.compile([RulesFile(name: "firestore.rules", content: line.rules)])
      var verdict = "invalid"
      var said = issues.first { $0.isError }?.message ?? ""
      if let ruleset {
        let decision = ruleset.decide(line.content.request, line.content.documents, provesLists: true)
        verdict = decision.isAllowed ? "allow" : "deny"
        // Without proofs of lists the verdict is the emulator's, too, or as intended.
        let usual = ruleset.decide(line.content.request, line.content.documents).isAllowed ? "allow" : "deny"
        if usual == line.verdict { asEmulator += 1 }
        #expect(usual == line.verdict || line.differs != nil, "\(name):\(line.number) is \(usual)\n\(line.text)")
        said = decision.denial
      }
      let isEqual = verdict == line.verdict
      #expect(isEqual == (line.differs == nil), "\(name):\(line.number) is \(verdict), \(said)\n\(line.text)")
    }
    if name == "queries" { #expect(asEmulator > table.lines.count { $0.differs == nil && $0.verdict != "invalid" }) }
  }
}
