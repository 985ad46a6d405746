// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreModel
import FirestoreRules
import FirestoreService
import ServiceTesting
import Testing

@Suite("Listing databases under security rules")
struct DatabaseAccessTests {
  @Test("Only administrators can list databases while rules are active")
  func access() async throws {
    let rules = AccessRules()
    let content = "service cloud.firestore { match /a/{b} { allow get: if false; } }"
    let (ruleset, _) = Ruleset.compile([RulesFile(name: "r", content: content)])
    rules.set(.ruleset(try #require(ruleset)))
    let service = FirestoreService(backend: try makeService().backend, rules: rules)
    let all = WireWriter.message { $0.field(1, string: "projects/-") }

    #expect(try await service.serving(as: "Bearer owner").answer(.listDatabases, all).isEmpty)
    for caller in [nil, TokenTests.token(#"{"sub":"alice"}"#)] {
      let error = await #expect(throws: RPCStatus.self) {
        _ = try await service.serving(as: caller).answer(.listDatabases, all)
      }
      #expect(error?.code == .permissionDenied)
    }
  }
}
