// SPDX-License-Identifier: Apache-2.0
import FirestoreRules
import FirestoreTesting
import SeededRandom
import Testing

@Suite("Rule issues")
struct IssueTests {
  private static func issues(_ text: String) -> [RulesIssue] {
    Ruleset.compile([RulesFile(name: "r", content: text)]).issues
  }

  @Test(
    "An issue in the rules is reported with its position",
    arguments: [
      ("service cloud.firestore { match /x { allow read if; } }", 1, 49, "Missing ':' before 'if' condition."),
      ("service cloud.firestore {}", 1, 26, "The 'service' body must contain at least one declaration."),
      (
        "rules_version = '3'; service cloud.firestore { match /a/b { allow read; } }", 1, 1,
        "Unsupported rules version 3."
      ),
      ("service cloud.firestore { match /a//b { allow read; } }", 1, 35, "Forward slash '/' found where"),
      (
        "service cloud.firestore {\n  match /a/{b} {\n    allow read: if 'é😀' == 99999999999999999999;\n  }\n}", 3, 29,
        "Invalid number"
      ),
      ("service cloud.firestore { match /a/b { allow read: if 1 is foo; } }", 1, 60, "An unsupported type identifier"),
      ("service cloud.firestore { match /a/b { allow read: if 4/2 == 2; } }", 1, 56, "to divide, write a space"),
      (
        "service cloud.firestore { match /a/b { allow read: if 'a'.matches('['); } }", 1, 67,
        "Invalid regular expression"
      ),
      ("service cloud.firestore { match /a/b { allow read: if true; } /* x", 1, 63, "This comment has no end"),
      ("service cloud.firestore { match /a/b { allow read; }", 1, 53, "Missing '}' before the end of the file."),
      ("", 0, 0, "Rules content empty."),
      ("service cloud.firestore { match /a/b { allow read: if - -3 < 0; } }", 1, 57, "A '-' cannot follow another"),
      (
        "rules_version = '2';\nrules_version = '2'; service cloud.firestore { match /a/b { allow read; } }", 2, 1,
        "Duplicate rules_version"
      ),
      (
        "rules_version = '2'; service cloud.firestore { match /{x=**} { match /f/{y=**} { allow read; } } }", 1, 73,
        "Only one glob match is permitted"
      ),
      ("service cloud.firestore { match /a/%2 { allow read; } }", 1, 35, "Forward slash '/' found where"),
    ])
  func places(_ text: String, _ line: Int, _ column: Int, _ message: String) throws {
    let issue = try #require(Self.issues(text).first { $0.isError })
    #expect(issue.line == line && issue.column == column && issue.message.contains(message), "\(issue)")
    #expect(Ruleset.compile([RulesFile(name: "r", content: text)]).ruleset == nil)
  }

  @Test("Parsing rules continues after an error and finds several errors")
  func several() {
    let issues = Self.issues(
      "service cloud.firestore { match /a/b { allow read if true; allow write: true; match /c/ { } allow get: if (; } }"
    )
    #expect(issues.filter(\.isError).count >= 4, "\(issues)")
  }

  @Test("A probable mistake is a warning, and the rules remain usable")
  func warnings() throws {
    let text =
      "service cloud.firestore { function f(a) { return b; } match /a/{c} { allow foo: if g(f(1, 2)) || c.nope(); } }"
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: "r", content: text)])
    #expect(ruleset != nil && issues.allSatisfy { !$0.isError })
    for part in [
      "Ruleset uses old version", "Invalid variable name: b.", "Unused variable: a.", "Invalid method name: foo.",
      "Invalid function name: g.", "Incorrect number of arguments supplied to function: f.",
      "Invalid function name: nope.",
    ] {
      #expect(issues.contains { $0.message.contains(part) }, "\(part) \(issues)")
    }
  }

  @Test("Unusual but valid names, methods, wildcards and escapes give no warning")
  func noWarnings() {
    let issues = Self.issues(
      """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{database}/documents {
          match /{x=**} { allow Get: if request.time < timestamp.date(2030, 1, 1) && math.abs(resource.data.n) < 5; }
          match /{y=**} {
            allow LIST, Write: if duration.value(1, 'h') > duration.time(0, 0, 1, 0)
              && hashing.md5('a').size() == 16 && latlng.value(1, 2).latitude() == 1.0;
          }
          match /a/{z} { allow read: if -(-3) == 3 && 1 - -3 == 4 && exists(/databases/%28default%29/documents/a/b); }
        }
      }
      """)
    #expect(issues.isEmpty, "\(issues)")
  }

  @Test("Oversized, deeply nested and recursive rules are rejected immediately")
  func extremes() {
    let inner = { (text: String) in
      "rules_version = '2'; service cloud.firestore { match /a/{b} { allow read: if \(text); } }"
    }
    let deep = String(repeating: "(", count: 100_000)
    for text in [
      inner(deep), inner(String(repeating: "[", count: 60_000)), inner(String(repeating: "!", count: 200_000) + "true"),
      inner(String(repeating: "-", count: 1001) + "1"), inner(String(repeating: "true ? ", count: 30_000)),
      inner(Array(repeating: "1", count: 60_000).joined(separator: "+")),
      inner(Array(repeating: "true", count: 40_000).joined(separator: "&&")),
      inner("a" + String(repeating: "[0]", count: 60_000)), inner("a" + String(repeating: ".b", count: 60_000)),
      inner(String(repeating: "f(", count: 60_000)), inner(String(repeating: "{1:", count: 60_000)),
      inner(String(repeating: "/a/$(", count: 30_000)),
      String(repeating: "service cloud.firestore { match /a { ", count: 5000),
      "service cloud.firestore { " + String(repeating: "match /a { ", count: 20_000),
      "// " + String(repeating: "x", count: 300_000), String(repeating: "}", count: 200_000),
      String(repeating: "'", count: 200_000), String(repeating: "\u{1F600}", count: 60_000),
    ] {
      let (ruleset, issues) = Ruleset.compile([RulesFile(name: "r", content: text)])
      #expect(ruleset == nil && !issues.isEmpty && issues.count <= 200, "\(text.prefix(100)) \(issues.count)")
    }
  }

  @Test("Mutated rules files are parsed or rejected, and each issue lies inside the file")
  func mutations() throws {
    var generator = SeededGenerator(seed: 15)
    let seeds = try VerdictTable("requests").lines.map(\.rules) + VerdictTable("conditions").lines.map(\.rules)
    var accepted = 0
    let rounds = TestSize.count(1_000, full: 10_000)
    for round in 0..<rounds {
      let text = RulesMutation.mutated(generator.pick(seeds), &generator)
      let (ruleset, issues) = Ruleset.compile([RulesFile(name: "r", content: text)])
      #expect((ruleset == nil) == issues.contains { $0.isError }, "round \(round): \(text)")
      let units = text.utf16.count
      #expect(
        issues.allSatisfy { $0.currentOffset >= 0 && $0.currentOffset <= $0.endOffset && $0.endOffset <= units },
        "round \(round): \(issues)\n\(text)")
      if ruleset != nil { accepted += 1 }
    }
    #expect(accepted > rounds / 20 && accepted < rounds - rounds / 20, "\(accepted)")
  }
}

/// Small changes of texts of rules.
enum RulesMutation {
  private static let parts = [
    "(", ")", "[", "]", "{", "}", "/", ".", ",", ";", ":", "?", "!", "-", "&&", "||", "==", " in ", " is ", "'", "\"",
    "\\", "$(", "**", "=", "resource", "request", "data", "null", "true", "1", "0.5", "allow", "match", "if", "let",
    "return", "function", "/*", "//", "\n", " ", "\u{e9}", "\u{1F600}", "size()", "get(", "exists(", "matches('",
  ]

  static func mutated(_ text: String, _ generator: inout SeededGenerator) -> String {
    var scalars = Array(text.unicodeScalars)
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let place = Int.random(in: 0...scalars.count, using: &generator)
      let end = min(scalars.count, place + Int.random(in: 0...6, using: &generator))
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: scalars.removeSubrange(place..<end)
      case 1: scalars.insert(contentsOf: generator.pick(parts).unicodeScalars, at: place)
      case 2: scalars.replaceSubrange(place..<end, with: generator.pick(parts).unicodeScalars)
      default:
        scalars.insert(contentsOf: scalars[place..<end], at: Int.random(in: 0...scalars.count, using: &generator))
      }
    }
    return String(String.UnicodeScalarView(scalars))
  }
}
