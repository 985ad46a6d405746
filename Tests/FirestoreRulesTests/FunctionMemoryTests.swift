// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRules
import Testing

/// The result of a function is taken from an earlier request where it must be the same. Decisions that remember nothing
/// are the oracle.
@Suite("Memoized rule functions")
struct FunctionMemoryTests {
  private static let database = DatabaseID(project: "p")
  private static let users = "/databases/$(database)/documents/users/$(request.auth.uid)"
  private static let text = """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        function signedIn() { return request.auth != null; }
        function account() { return get(\(users)).data; }
        function isAdmin() { return signedIn() && account().role == 'admin'; }
        function isMember() { let team = account().team; return exists(/databases/$(database)/documents/teams/$(team)); }
        function has(role) { return account().role == role; }
        function isLate() { return exists(\(users)) && request.time > timestamp.value(5000); }
        function owns() { return exists(\(users)) && resource.data.owner == request.auth.uid; }
        function mayBe() { return isMember() || account().role != null || !signedIn() || true; }
        match /admin/{id} { allow read: if isAdmin(); }
        match /maybe/{id} { allow read: if mayBe() && isMember(); }
        match /member/{id} { allow read: if isMember() && isMember(); }
        match /either/{id} { allow read: if isMember() || isAdmin(); allow get: if !isAdmin(); }
        match /role/{id} { allow read: if has('admin') || has(id); }
        match /late/{id} { allow read: if isLate(); }
        match /own/{id} { allow read: if owns() && isMember(); }
        match /after/{id} { function after() { return existsAfter(\(users)); } allow read: if after() && isAdmin(); }
        match /deep/{name}/in/{id} {
          function named() { return exists(/databases/$(database)/documents/users/$(name)); }
          allow read: if named();
        }
      }
      match /{root=**} { function open() { return exists(/$(root)/x/y); } allow get: if open(); }
    }
    """

  private final class State: Sendable {}

  /// Documents that are read, and counted, one by one.
  private final class Documents: RulesDocuments {
    private let known: [DocumentKey: Document]
    let state: (any RulesDocumentState)?
    private(set) var reads = 0
    private var looks: Set<DocumentKey> = []

    init(_ known: [DocumentKey: Document], _ state: State?) { (self.known, self.state) = (known, state) }

    func stored(_ key: DocumentKey) -> Document? {
      reads += 1
      looks.insert(key)
      return known[key]
    }

    func after(_ key: DocumentKey) -> Document? { known[key] }
    func wasLookedAt(_ key: DocumentKey) -> Bool { looks.contains(key) }
    func note(_ key: DocumentKey) { looks.insert(key) }
  }

  private static func ruleset() throws -> Ruleset {
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: "r", content: text)])
    return try #require(ruleset, "\(issues)")
  }

  private static func document(_ path: String, _ fields: Fields) -> Document {
    Document(
      key: DocumentKey(unchecked: ResourcePath(path)), version: SnapshotVersion(microseconds: 1),
      state: .found(DocumentData(fields)))
  }

  private static func known(_ documents: Document...) -> [DocumentKey: Document] {
    Dictionary(uniqueKeysWithValues: documents.map { ($0.key, $0) })
  }

  private static let first = known(
    document("users/ada", ["role": .string("admin"), "team": .string("red")]),
    document("users/bob", ["role": .string("guest"), "team": .string("blue")]), document("teams/red", [:]))
  private static let second = known(
    document("users/ada", ["role": .string("guest"), "team": .string("blue")]),
    document("users/eve", ["role": .string("admin")]), document("teams/blue", [:]))

  private static func request(
    _ path: String, _ uid: String?, seconds: Int64 = 1, accesses: Int = RulesLimits.accesses
  ) -> RulesRequest {
    RulesRequest(
      method: .get, database: database, path: ResourcePath(path), user: uid.map { RulesUser(uid: $0, claims: [:]) },
      time: Timestamp(seconds: seconds), resource: document(path, ["owner": .string("ada")]), accessAllowance: accesses)
  }

  private static func told(_ verdict: RulesVerdict) -> String {
    "\(verdict.isAllowed) \(verdict.outcomes) \(verdict.decidingLine ?? 0) \(verdict.denial) \(verdict.read) "
      + "\(verdict.accesses)"
  }

  private static func told(_ nodes: [RulesCoverageNode]) -> [String] {
    nodes.flatMap { node in
      let values = node.values.map { "\($0.count) \($0.value)" }.sorted()
      return ["\(node.position.line):\(node.position.column) \(values)"] + told(node.children)
    }
  }

  @Test("Decisions, lookups and counts are the same with and without memoization")
  func oracle() throws {
    let ruleset = try Self.ruleset()
    var (remembering, forgetful) = (RulesRoom(), RulesRoom())
    let paths = [
      "admin/a", "maybe/a", "member/a", "either/a", "role/guest", "late/a", "own/a", "after/a", "deep/bob/in/a",
      "deep/eve/in/a",
      "deep/x/y/z",
    ]
    for documents in [Self.first, Self.second] {
      let state = State()
      for seconds in [1, 9] as [Int64] {
        for uid in ["ada", "bob", nil, "ada"] {
          for path in paths {
            for accesses in [0, RulesLimits.accesses, 1] {
              let request = Self.request(path, uid, seconds: seconds, accesses: accesses)
              let mine = ruleset.decide(SharedRequest(request), Documents(documents, state), &remembering)
              let oracle = ruleset.decide(SharedRequest(request), Documents(documents, nil), &forgetful)
              #expect(Self.told(mine) == Self.told(oracle), "\(path) of \(uid ?? "nobody"), \(accesses)")
            }
          }
        }
      }
    }
    #expect(Self.told(ruleset.report(remembering.coverage)) == Self.told(ruleset.report(forgetful.coverage)))
  }

  @Test("A function is re-evaluated for a user only after a document changes")
  func remembered() throws {
    let ruleset = try Self.ruleset()
    var room = RulesRoom()
    func reads(_ path: String, _ uid: String, _ known: [DocumentKey: Document], _ state: State?) -> [Int] {
      let documents = Documents(known, state)
      let verdict = ruleset.decide(SharedRequest(Self.request(path, uid)), documents, &room)
      return [documents.reads, verdict.isAllowed ? 1 : 0, verdict.accesses]
    }
    let (before, after) = (State(), State())
    #expect(reads("admin/a", "ada", Self.first, before) == [1, 1, 1])
    #expect(reads("admin/b", "ada", Self.first, before) == [0, 1, 1])
    #expect(reads("admin/b", "bob", Self.first, before)[1] == 0)
    #expect(reads("admin/b", "ada", Self.first, before) == [0, 1, 1])
    // What depends on a parameter, the time, the path or the document is always evaluated.
    for path in ["role/admin", "own/a", "deep/bob/in/a"] {
      #expect(reads(path, "ada", Self.first, before)[0] > 0 && reads(path, "ada", Self.first, before)[0] > 0, "\(path)")
    }
    #expect(reads("admin/a", "ada", Self.second, after)[1] == 0)
    #expect(reads("admin/a", "ada", Self.first, nil) == [1, 1, 1])
    #expect(reads("admin/a", "ada", Self.first, nil) == [1, 1, 1])
  }
}
