// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRules
import FirestoreService
import FirestoreTesting
import ServiceTesting
import Testing

@testable import FirestoreAccess

/// Streams that outlive the token of their caller.
@Suite("Streams and token expiry")
struct ExpiryTests {
  private let clock = TestClock(seconds: 1_000)

  private func caller(_ claims: String) throws -> FirestoreService {
    let clock = clock
    let rules = AccessRules(TokenReader(TokenReader.Keys(owner: nil, now: { clock.now().seconds }) { _, _, _ in true }))
    let text = "service cloud.firestore { match /{document=**} { allow read, write: if true; } }"
    rules.set(.ruleset(try #require(Ruleset.compile([RulesFile(name: "rules", content: text)]).ruleset)))
    return try FirestoreService(backend: try makeService().backend, rules: rules).serving(
      as: TokenTests.token(claims, header: #"{"alg":"RS256"}"#, signature: TokenTests.encoded("x")))
  }

  private static let claims = #"{"sub":"u","aud":"p","iss":"https://securetoken.google.com/p","exp":1500}"#

  @Test("Write and Listen streams stop serving once their token has expired")
  func streams() async throws {
    let (clock, caller) = (clock, try caller(Self.claims))
    #expect(caller.timeLeft == 560)
    try await caller.backend.run {
      var write = WriteStream(caller)
      _ = try write.receive(bytes { $0.field(1, string: database) })
      func batch(_ path: String) -> [UInt8] {
        bytes { writer in
          writer.set(path, ["n": .integer(1)], as: 3)
          writer.field(4, bytes: [UInt8](repeating: 0, count: 8))
        }
      }
      var listen = ListenStream(caller) {}
      try listen.receive(
        bytes { writer in
          writer.field(1, string: database)
          writer.field(2) { writer in
            writer.field(3) { $0.field(2, string: root + "/c/a") }
            writer.field(5, varint: 2)
          }
        })
      clock.set(seconds: 1_559)
      _ = try write.receive(batch("c/a"))
      #expect(try listen.take().messages.isEmpty == false)
      clock.set(seconds: 1_560)
      #expect(caller.timeLeft == 0)
      let refusals = [
        #expect(throws: RPCStatus.self) { _ = try write.receive(batch("c/b")) },
        #expect(throws: RPCStatus.self) { _ = try listen.take() },
        #expect(throws: RPCStatus.self) { try caller.checkTime() },
      ]
      #expect(refusals.allSatisfy { $0?.code == .unauthenticated })
      listen.close()
    }
  }

  @Test("Streams never expire without a token or with unsigned tokens")
  func endless() throws {
    let service = FirestoreService(backend: try makeService().backend, rules: AccessRules())
    #expect(try service.serving(as: TokenTests.token(Self.claims)).timeLeft == nil)
    #expect(try service.serving(as: nil).timeLeft == nil)
    #expect(try service.serving(as: "Bearer owner").timeLeft == nil)
  }
}
