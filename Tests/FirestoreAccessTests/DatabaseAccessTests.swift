// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreModel
import FirestoreRules
import FirestoreService
import ServiceTesting
import Testing

@Suite("Databases under security rules")
struct DatabaseAccessTests {
  private func ruleset(allowing collection: String) throws -> Ruleset {
    let content = """
      service cloud.firestore { match /databases/{d}/documents { match /\(collection)/{i} { allow get: if true; } } }
      """
    return try #require(Ruleset.compile([RulesFile(name: collection, content: content)]).0)
  }

  @Test("Project rules override database rules, and database rules override shared rules")
  func separate() async throws {
    let rules = AccessRules()
    let service = FirestoreService(backend: try makeService().backend, rules: rules)
    let caller = TokenTests.token(#"{"sub":"alice"}"#)
    func isAllowed(_ path: String, in database: String) async throws -> Bool {
      let name = "projects/p/databases/\(database)/documents/\(path)"
      let request = WireWriter.message { $0.field(1, string: name) }
      do throws(RPCStatus) {
        _ = try await service.serving(as: caller).answer(.getDocument, request)
        return true
      } catch {
        // The documents do not exist, so a permitted read finds nothing.
        return error.code == .notFound
      }
    }

    rules.set(.ruleset(try ruleset(allowing: "logs")), forDatabase: "logs")
    #expect(rules.isActive)
    for _ in 0..<2 {
      #expect(try await isAllowed("logs/a", in: "logs"))
      #expect(try await !isAllowed("shared/a", in: "logs"))
    }
    // A database without rules is open.
    #expect(try await isAllowed("any/a", in: "(default)"))

    rules.set(.ruleset(try ruleset(allowing: "shared")))
    #expect(try await isAllowed("shared/a", in: "(default)"))
    #expect(try await !isAllowed("any/a", in: "(default)"))
    #expect(try await !isAllowed("shared/a", in: "logs"))

    rules.set(.ruleset(try ruleset(allowing: "project")), for: "p")
    #expect(try await isAllowed("project/a", in: "logs"))
    #expect(try await !isAllowed("logs/a", in: "logs"))
    rules.set(nil, for: "p")
    rules.set(nil, forDatabase: "logs")
    #expect(try await isAllowed("shared/a", in: "logs"))
  }

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
