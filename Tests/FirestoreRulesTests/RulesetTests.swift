// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRules
import Testing

@Suite("Rulesets")
struct RulesetTests {
  private static let database = DatabaseID(project: "p")

  /// Rules whose first line is line 1 of the block for documents.
  private static func compile(_ inner: String) throws -> Ruleset {
    let text =
      "rules_version = '2'; service cloud.firestore { match /databases/{database}/documents {\n\(inner)\n} }"
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: "r", content: text)])
    return try #require(ruleset, "\(issues)")
  }

  private static func document(_ path: String, _ fields: Fields) throws -> Document {
    Document(
      key: try #require(DocumentKey(path)), version: SnapshotVersion(microseconds: 1),
      state: .found(DocumentData(fields)))
  }

  private static func get(_ path: String, _ resource: Document? = nil, uid: String? = nil) -> RulesRequest {
    RulesRequest(
      method: .get, database: database, path: ResourcePath(path), user: uid.map { RulesUser(uid: $0, claims: [:]) },
      time: Timestamp(seconds: 1), resource: resource)
  }

  private static func documents(_ stored: [Document]) -> FixedDocuments {
    FixedDocuments(stored: Dictionary(uniqueKeysWithValues: stored.map { ($0.key, $0) }))
  }

  private static var none: FixedDocuments { FixedDocuments() }

  @Test("A second service in the file, such as storage, is ignored and not checked")
  func services() {
    let firestore = "service cloud.firestore { match /{path=**} { allow read: if true; } }"
    let storage =
      "service firebase.storage { function f() { return firestore.get(x); } "
      + "match /b/{bucket}/o { allow read: if request.resource.size < 5 && f(); } }"
    for text in [firestore + storage, storage + firestore] {
      let (ruleset, issues) = Ruleset.compile([RulesFile(name: "r", content: "rules_version = '2'; " + text)])
      #expect(ruleset?.decide(Self.get("c/a"), Self.none).isAllowed == true)
      #expect(
        issues.map(\.message) == ["Rules of 'firebase.storage' are ignored. Only 'cloud.firestore' is supported."])
    }
  }

  @Test("A verdict reports the values of debug() with their lines, once for each call")
  func debug() throws {
    let ruleset = try Self.compile(
      """
      match /a/{id} {
        function isNorth() { return debug('pier ' + id) == 'pier north'; }
        allow read: if isNorth() && debug([1, 2])[0] == 1;
      }
      """)
    for (id, texts) in [("north", ["2 \"pier north\"", "3 [1, 2]"]), ("south", ["2 \"pier south\""])] {
      let verdict = ruleset.decide(Self.get("a/\(id)"), Self.none)
      #expect(verdict.debugged.map { "\($0.line - 1) \($0.text)" } == texts, "\(verdict)")
    }
  }

  @Test("A verdict lists the evaluated statements and the deciding one")
  func outcomes() throws {
    let ruleset = try Self.compile(
      """
      match /a/{id} {
        allow get: if false;
        allow get: if resource.data.x == 1;
        allow get: if id == 'b';
        allow get: if true;
        allow list: if true;
      }
      """)
    let verdict = ruleset.decide(Self.get("a/b"), Self.none)

    #expect(verdict.isAllowed && verdict.decidingLine == 5 && verdict.denial.isEmpty)
    #expect(verdict.outcomes.map(\.line) == [3, 4, 5] && verdict.outcomes.allSatisfy { $0.column == 3 })
    #expect(verdict.outcomes[0].result == .isFalse && verdict.outcomes[2].result == .isTrue)
    #expect(verdict.outcomes[1].result == .failed(message: "Null value error.", line: 4, column: 17))
    let unmatched = ruleset.decide(Self.get("z/b"), Self.none)
    #expect(!unmatched.isAllowed && unmatched.decidingLine == nil && unmatched.outcomes.isEmpty)
    #expect(unmatched.denial == "No matching allow statements")
  }

  @Test("A denial has the emulator's text")
  func denial() throws {
    let ruleset = try Self.compile("match /a/{id} {\n allow get: if resource.data.x == 1;\n allow get: if false;\n}")
    let verdict = ruleset.decide(Self.get("a/b", try Self.document("a/b", ["x": .integer(2)])), Self.none)

    #expect(!verdict.isAllowed && verdict.decidingLine == 4)
    #expect(verdict.denial == "\nevaluation error at L3:16 for 'get' @ L3, false for 'get' @ L4, false for 'get' @ L3")
  }

  @Test("Repeated lookups of a document count once, and an eleventh document is denied")
  func accesses() throws {
    let path = { (id: String) in "/databases/$(database)/documents/roles/\(id)" }
    let ruleset = try Self.compile(
      "match /a/{id} { allow get: if get(\(path("ada"))).data.n == 1 && exists(\(path("ada")))"
        + " && exists(\(path("ada"))) && existsAfter(\(path("ada"))) && getAfter(\(path("ada"))).data.n == 1"
        + " && !exists(\(path("bob"))); }\n"
        + "match /b/{id} { allow get: if "
        + (0..<11).map { "!exists(\(path("x\($0)")))" }.joined(separator: " && ") + "; }")
    let stored = Self.documents([try Self.document("roles/ada", ["n": .integer(1)])])
    let verdict = ruleset.decide(Self.get("a/b"), stored)
    #expect(verdict.isAllowed && verdict.accesses == 2)
    #expect(verdict.read == [try #require(DocumentKey("roles/ada")), try #require(DocumentKey("roles/bob"))])

    var request = Self.get("b/b")
    let denied = ruleset.decide(request, stored)
    #expect(!denied.isAllowed && denied.accesses == 10 && denied.denial.contains("At most 10 documents"))
    request.accessAllowance = RulesLimits.accessesInAll
    #expect(ruleset.decide(request, stored).isAllowed)
  }

  @Test(
    "Extreme values in rules behave as in the emulator",
    arguments: [
      ("'abc'[0:0] == ''", false), ("'abc'[1:1] == ''", true), ("'abc'[2:2] == ''", true), ("'abc'[3:3] == ''", false),
      ("''[0:0] == ''", false), ("''[:] == ''", false), ("'abc'[3:] == ''", false), ("'abc'[:] == 'abc'", true),
      ("[1][0:0] == []", false), ("[1][1:1] == []", false), ("[1][0:1] == [1]", true), ("/a/b[0:0] == /a", false),
      ("'a.b.c'.split('.') == ['']", true), ("'a.b.c'.split('.').hasAll(['a'])", false),
      ("'aaa'.split('a') == ['']", true),
      ("/a/{q}.bind({'q': 9}) == /a/9", true), ("/a/{q}.bind({'q': 1.5}) == /a/$('1.5')", true),
      ("/a/$(1.0) == /a/$('1.0')", true), ("/a/$(true) == /a/b", false), ("/a/%28x%29 == /a/$('%28x%29')", true),
      ("request.auth.token.whole is int && request.auth.token.whole == 1", true),
      ("request.auth.token.half is float", true), ("request.auth.token.inner.list[0] is int", true),
      ("request.writeFields == null", false), ("'writeFields' in request", false),
    ])
  func edges(_ condition: String, _ isAllowed: Bool) throws {
    let ruleset = try Self.compile("match /a/{id} { allow get: if \(condition); }")
    var request = Self.get("a/b")
    request.user = RulesUser(
      uid: "u",
      claims: ["whole": .double(1), "half": .double(0.5), "inner": .map(["list": .array([.double(2)])])])

    #expect(ruleset.decide(request, Self.none).isAllowed == isAllowed)
  }

  @Test("Coverage counts and accumulates the result of each expression")
  func coverage() throws {
    let ruleset = try Self.compile("match /a/{id} { allow get: if id == 'b' || resource.data.x > 1; }")
    var room = RulesRoom()
    #expect(ruleset.decide(SharedRequest(Self.get("a/b")), Self.none, &room).isAllowed)
    #expect(!ruleset.decide(SharedRequest(Self.get("a/c")), Self.none, &room).isAllowed)

    let report = ruleset.report(room.coverage)
    #expect(report.count == 1)
    let condition = try #require(report.first)
    #expect(condition.position.line == 2 && condition.position.column == 31)
    #expect(Set(condition.values.map(\.value)) == [.value(.boolean(true)), .undefined])
    #expect(condition.values.map(\.count) == [1, 1])
    #expect(condition.children.count == 2 && condition.children[0].values.reduce(0) { $0 + $1.count } == 2)
    #expect(condition.children[1].values.map(\.value) == [.undefined])
  }

  @Test("A lookup path in another database is denied, and the denial names the path")
  func otherDatabase() throws {
    let ruleset = try Self.compile("match /a/{id} { allow get: if exists(/databases/other/documents/a/b); }")
    let verdict = ruleset.decide(Self.get("a/b"), Self.none)
    #expect(!verdict.isAllowed && verdict.accesses == 0)
    #expect(verdict.denial.contains("/databases/other/documents/a/b"), "\(verdict.denial)")
  }

  @Test("A condition that repeatedly processes large values is stopped early")
  func work() throws {
    let list = Value.array((0..<20_000).map { .integer($0) })
    let text = Value.string(String(repeating: "a", count: 200_000))
    let all = Array(repeating: "resource.data.l.toSet() == resource.data.l.toSet()", count: 60).joined(
      separator: " && ")
    let pattern = Array(repeating: "resource.data.s.matches('(a|b|c)*a{50}')", count: 60).joined(separator: " && ")
    let growing = "function d(s) { return s + s + s + s + s + s + s + s; }"
    let ruleset = try Self.compile(
      "match /l/{id} { allow get: if \(all); }\nmatch /s/{id} { allow get: if \(pattern); }\n"
        + "\(growing)\nmatch /g/{id} { allow get: if d(d(d(d(d(d(d(d(d(d('aaaaaaaa')))))))))).size() > 0; }")
    for path in ["l/a", "s/a", "g/a"] {
      let document = try Self.document(path, ["l": list, "s": text])
      let verdict = ruleset.decide(Self.get(path, document), Self.none)
      #expect(!verdict.isAllowed && verdict.denial.contains("too much work"), "\(path) \(verdict.denial.prefix(200))")
    }
  }
}
