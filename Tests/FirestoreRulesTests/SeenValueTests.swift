// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Testing

@testable import FirestoreRules

@Suite("Values reported by a condition")
struct SeenValueTests {
  private static let database = DatabaseID(project: "p")

  private static func compile(_ blocks: String) throws -> Ruleset {
    let text =
      "rules_version = '2';\nservice cloud.firestore { match /databases/{database}/documents {\n\(blocks)\n} }"
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: "r", content: text)])
    return try #require(ruleset, "\(issues)")
  }

  private static func update(_ fields: Fields, uid: String? = "ada") throws -> RulesRequest {
    let key = try #require(DocumentKey("notes/n1"))
    let document = { (fields: Fields) in
      Document(key: key, version: SnapshotVersion(microseconds: 1), state: .found(DocumentData(fields)))
    }
    return RulesRequest(
      method: .update, database: database, path: key.path, user: uid.map { RulesUser(uid: $0, claims: [:]) },
      time: Timestamp(seconds: 1), resource: document(["owner": .string("bob"), "count": .integer(1)]),
      newResource: document(fields))
  }

  private static func told(_ outcome: RulesOutcome) -> [String] {
    outcome.values.map { "\($0.expression) \($0.isFailure ? "!" : "=") \($0.value)" }
  }

  @Test("A denial lists each evaluated statement's values with their source text")
  func denied() throws {
    let ruleset = try Self.compile(
      """
      function owns(data) { return data.owner == request.auth.uid; }
      match /notes/{note} {
        allow update: if note == 'n2' || request.resource.data.count > 5;
        allow update: if request.auth != null
          && owns(resource.data);
      }
      """)
    let verdict = ruleset.decide(try Self.update(["count": .integer(2)]), FixedDocuments())

    #expect(!verdict.isAllowed && verdict.decidingLine == 6 && verdict.outcomes.count == 2)
    #expect(Self.told(verdict.outcomes[0]) == ["note = \"n1\"", "request.resource.data.count = 2"])
    #expect(
      Self.told(verdict.outcomes[1]) == [
        "request.auth = {\"token\": {}, \"uid\": \"ada\"}",
        "resource.data = {\"count\": 1, \"owner\": \"bob\"}", "data.owner = \"bob\"",
        "request.auth.uid = \"ada\"", "owns(resource.data) = false",
      ], "\(Self.told(verdict.outcomes[1]))")
    #expect(
      ruleset.statement(of: verdict.outcomes[1]) == "allow update: if request.auth != null && owns(resource.data)")
  }

  @Test("An expression that fails reports how far it was evaluated")
  func failed() throws {
    let ruleset = try Self.compile("match /notes/{note} { allow update: if request.auth.uid == resource.data.owner; }")
    let verdict = ruleset.decide(try Self.update([:], uid: nil), FixedDocuments())

    #expect(
      Self.told(try #require(verdict.outcomes.first)) == [
        "request.auth = null", "request.auth.uid ! Null value error.",
      ])
  }

  @Test("Rule values of allowed requests are reported only if requested")
  func allowed() throws {
    let ruleset = try Self.compile("match /notes/{note} { allow update: if resource.data.owner == 'bob'; }")
    let request = SharedRequest(try Self.update([:]))
    var room = RulesRoom()

    #expect(ruleset.decide(request, FixedDocuments(), &room).outcomes.map(\.values) == [[]])
    let verdict = ruleset.decide(request, FixedDocuments(), &room, tellsValues: true)
    #expect(verdict.isAllowed && verdict.outcomes.map(\.values) == [[SeenValue("resource.data.owner", "\"bob\"")]])
  }

  @Test("A decision reports at most its last 16 values, each with 200 characters")
  func bounds() throws {
    let long = String(repeating: "long ", count: 100)
    let numbers = (0..<500).map { Value.integer($0) }
    let fields: Fields = ["long": .string(long), "list": .array(numbers), "map": .map(["a": .null])]
    let many = (0..<20).map { "request.resource.data.get('f\($0)', \($0)) == \($0)" }.joined(separator: " && ")
    let ruleset = try Self.compile(
      """
      match /notes/{note} {
        allow update: if request.resource.data.keys().hasOnly(['none']);
        allow update: if \(many) && request.resource.data.map == null;
        allow update: if request.resource.data.long == '' || request.resource.data.list == [] ||
          request.resource.data.keys().toSet() == note.split('').toSet() || request.resource.data.map == null;
      }
      """)
    let verdict = ruleset.decide(try Self.update(fields), FixedDocuments())

    let values = verdict.outcomes.map(\.values)
    #expect(values.map(\.count).reduce(0, +) == SeenValue.most && values[0].isEmpty)
    let longest = try #require(values[2].first)
    #expect(longest.expression == "request.resource.data.long" && longest.value.count == 200)
    #expect(longest.value.hasSuffix("…"))
    #expect(values[1].last == SeenValue("request.resource.data.map", "{\"a\": null}"))
    #expect(values[2].contains { $0.value == "set [\"list\", \"long\", \"map\"]" }, "\(values[2])")
    #expect(try #require(ruleset.statement(of: verdict.outcomes[1])).count == 200)
  }
}
