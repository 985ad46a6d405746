// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreRules
import Foundation
import SeededRandom
import Testing

@Suite("Rule test cases")
struct RulesCaseTests {
  @Test("10,000 mutated cases are read or rejected at a position in their line")
  func mutations() throws {
    let seeds = [
      #"{"method": "get", "path": "rooms/a", "user": {"uid": "ada", "claims": {"admin": true}}, "expect": "allow"}"#,
      #"{"method": "list", "path": "a", "query": {"where": [["n", ">", 3], {"or": [["a", "in", [1]], ["__name__", "==", {"$ref": "a/b"}]]}], "orderBy": ["-n"], "limit": 5, "offset": 2}, "expect": "deny"}"#,
      #"{"method": "update", "path": "a/b", "data": {"x": {"$timestamp": "2026-03-02T11:58:03Z"}}, "after": {"c/d": null}, "stored": {"a/b": {"x": 1}}, "time": "2026-03-02T11:58:03Z", "expect": "deny"}"#,
    ]
    let parts = [
      "{", "}", "[", "]", ":", ",", "\"", "null", "1", "-1", "1e400", "\"expect\": \"allow\"", "\\", "/", "😀", "where",
    ]
    let ruleset = try #require(
      Ruleset.compile([
        RulesFile(
          name: "r",
          content: "service cloud.firestore { match /{a=**} { allow read, write: if resource.data.x == 1; } }")
      ]).ruleset)
    var generator = SeededGenerator(seed: 5)
    var read = 0
    for round in 0..<10_000 {
      var text = Array(generator.pick(seeds).unicodeScalars)
      for _ in 0..<Int.random(in: 1...2, using: &generator) {
        let place = Int.random(in: 0...text.count, using: &generator)
        let end = min(text.count, place + Int.random(in: 0...8, using: &generator))
        text.replaceSubrange(place..<end, with: generator.pick(parts).unicodeScalars)
      }
      let line = String(String.UnicodeScalarView(text))
      var reader = RulesCaseReader()
      do throws(JSONError) {
        guard let content = try reader.read(try JSONSyntax(parsing: line)) else { continue }
        read += 1
        _ = ruleset.decide(content.request, content.documents)
      } catch {
        #expect(
          !error.reason.isEmpty && error.column >= 0 && error.column <= line.utf8.count + 1, "round \(round): \(line)")
      }
    }
    #expect(read > 100, "\(read)")
  }
}
