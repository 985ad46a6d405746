// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRules
import FirestoreService
import ServiceTesting
import Testing

@testable import FirestoreAccess

/// Google's page on conditions: ten documents for one document or query, twenty for a request about several with ten for
/// each of them, and what was looked at before does not count.
@Suite("Document lookups in rules")
struct LookUpTests {
  private static let users = "/databases/$(database)/documents/users/"
  /// `w` looks at one document for all writes, `own` at one for each, `both` at both, `after` at two for all: one as the
  /// commit leaves it, `many` at as many as the written document says.
  private static let text = """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        function isAdmin() { return get(\(users)me).data.admin == true; }
        match /w/{id} { allow read: if isAdmin(); allow write: if get(\(users)me).data.admin == true; }
        match /own/{id} { allow read, write: if !exists(\(users)$(id)); }
        match /both/{id} { allow read, write: if get(\(users)me).data.admin == true && !exists(\(users)$(id)); }
        match /after/{id} { allow write: if getAfter(\(users)me).data.admin == true && exists(\(users)you); }
        match /one/{id} { allow write: if get(\(users)me) == getAfter(\(users)me) && existsAfter(\(users)me); }
        match /ten/{id} { allow write: if \(exists(10)); }
        match /eleven/{id} { allow write: if \(exists(11)); }
      }
    }
    """

  private static func exists(_ count: Int) -> String {
    (0..<count).map { "!exists(\(users)$(id)/x/n\($0))" }.joined(separator: " && ")
  }

  private static func services() async throws -> (owner: FirestoreService, me: FirestoreService) {
    let rules = AccessRules()
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: "test.rules", content: text)])
    rules.set(.ruleset(try #require(ruleset, "\(issues)")))
    let service = FirestoreService(backend: try makeService().backend, rules: rules)
    let owner = try service.serving(as: "Bearer owner")
    for id in ["me", "you"] { try await owner.set("users/" + id, ["admin": .boolean(true)]) }
    return (owner, try service.serving(as: TokenTests.token(#"{"sub":"me"}"#)))
  }

  private static func isAllowed(_ body: () async throws -> Void) async throws -> Bool {
    do {
      try await body()
      return true
    } catch let status as RPCStatus where status.code == .permissionDenied {
      #expect(
        status.message.contains("At most 10 documents") && status.message.contains("20 for a request"), "\(status)")
      return false
    }
  }

  @Test(
    "A batch may look up 20 documents, and repeated lookups count once",
    arguments: [
      ("w", 500, true), ("own", 20, true), ("own", 21, false), ("both", 19, true), ("both", 20, false),
      ("after", 11, true),
      ("after", 500, true), ("one", 21, true), ("ten", 1, true), ("ten", 2, true), ("ten", 3, false),
      ("eleven", 1, false),
      ("eleven", 2, false),
    ])
  func commits(_ collection: String, _ count: Int, _ allowed: Bool) async throws {
    let (_, me) = try await Self.services()
    let request = bytes { writer in
      writer.field(1, string: database)
      for number in 0..<count { writer.set("\(collection)/d\(number)", ["n": .integer(1)]) }
    }
    let isAllowed = try await Self.isAllowed { try await me.answer(.commit, request) }
    #expect(isAllowed == allowed)
  }

  @Test(
    "A batch read has the same lookup limit as a batch write",
    arguments: [("w", 100, true), ("own", 20, true), ("own", 21, false), ("both", 19, true), ("both", 20, false)])
  func reads(_ collection: String, _ count: Int, _ allowed: Bool) async throws {
    let (_, me) = try await Self.services()
    let request = bytes { writer in
      writer.field(1, string: database)
      for number in 0..<count { writer.field(2, string: root + "/\(collection)/d\(number)") }
    }
    let isAllowed = try await Self.isAllowed { _ = try await me.messages(.batchGetDocuments, request) }
    #expect(isAllowed == allowed)
  }

  @Test("Rules see the current version of a looked-up document")
  func revoked() async throws {
    let (owner, me) = try await Self.services()
    let request = bytes { writer in
      writer.field(1, string: database)
      for number in 0..<3 { writer.field(2, string: root + "/w/d\(number)") }
    }
    func isAllowed() async -> Bool {
      do {
        _ = try await me.messages(.batchGetDocuments, request)
        return true
      } catch { return false }
    }
    let isAdmin = await [isAllowed(), isAllowed()]
    #expect(isAdmin == [true, true])
    try await owner.set("users/me", ["admin": .boolean(false)])
    #expect(await !isAllowed())
    try await owner.set("users/me", ["admin": .boolean(true)])
    #expect(await isAllowed())
    try await owner.answer(.deleteDocument, bytes { $0.field(1, string: root + "/users/me") })
    #expect(await !isAllowed())
    try await owner.set("users/me", ["admin": .boolean(true)])
    #expect(await isAllowed())
    try await owner.deleteEverything()
    #expect(await !isAllowed())
  }
}
