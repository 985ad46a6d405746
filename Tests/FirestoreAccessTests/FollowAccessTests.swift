// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreRules
import FirestoreService
import FirestoreTesting
import ServiceTesting
import Testing

@Suite("Commit notifications under security rules", .timeLimit(.minutes(15)))
struct FollowAccessTests {
  private static let place = DatabaseID(project: "p")
  private static let request = WireWriter.message { $0.followRequest(in: place) }

  private func ruleset() throws -> AccessRules.Source {
    let content = "service cloud.firestore { match /a/{b} { allow read: if true; } }"
    let (ruleset, _) = Ruleset.compile([RulesFile(name: "r", content: content)])
    return .ruleset(try #require(ruleset))
  }

  @Test("Only administrators receive commit notifications while rules are active")
  func access() async throws {
    let rules = AccessRules()
    rules.set(try ruleset())
    let service = FirestoreService(backend: try makeService().backend, rules: rules)
    for caller in [nil, TokenTests.token(#"{"sub":"alice"}"#)] {
      let error = await #expect(throws: RPCStatus.self) {
        let restricted = try service.serving(as: caller)
        try await restricted.followCommits(Self.request) { _ in Issue.record("news for \(caller ?? "")") }
      }
      #expect(error?.code == .permissionDenied)
    }
    struct Enough: Error {}
    await #expect(throws: Enough.self) {
      try await service.serving(as: "Bearer owner").followCommits(Self.request) { _ in throw Enough() }
    }
  }

  @Test("New rules end a caller's commit notifications before the next commit")
  func later() async throws {
    let rules = AccessRules()
    let service = FirestoreService(backend: try makeService().backend, rules: rules)
    let source = try ruleset()
    let backend = service.backend
    let error = await #expect(throws: RPCStatus.self) {
      try await service.serving(as: nil).followCommits(Self.request) { messages in
        let news = try WireReader.read(messages[0]) { reader throws(WireError) in try reader.commitNews() }
        #expect(news == .everything)
        rules.set(source)
        try await backend.commit([set("secret/x", ["n": 1])], in: Self.place)
      }
    }
    #expect(error?.code == .permissionDenied)
  }

  @Test("A commit notification request without a database name is rejected")
  func bad() async throws {
    let service = try makeService()
    for request in [[], [0x0A, 0x02, 0x61], WireWriter.message { $0.field(1, string: "nothing") }] {
      let error = await #expect(throws: RPCStatus.self) {
        try await service.followCommits(request) { _ in Issue.record("news") }
      }
      #expect(error?.code == .invalidArgument)
    }
  }
}
