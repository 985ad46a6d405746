// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreModel
import FirestoreRules
import FirestoreService
import FirestoreTesting
import NIOCore
import ServerTesting
import Testing

@testable import FirestoreEmulator

/// Whom a browser's session is served as: whoever its first request names, wherever it does.
@Suite struct ChannelCallerTests {
  private static let denial = "service cloud.firestore { match /{document=**} { allow read, write: if false; } }"
  private static let owner = "Authorization%3ABearer%20owner%0D%0A"

  private let server: BrowserFixture

  init() throws {
    let rules = AccessRules()
    let ruleset = Ruleset.compile([RulesFile(name: "rules", content: Self.denial)]).ruleset
    rules.set(.ruleset(try #require(ruleset)))
    server = try BrowserFixture(rules: rules)
  }

  private func heard(_ method: String, _ session: String) throws -> String {
    let channel = try server.back(method, session, after: 0)
    defer { channel.close(promise: nil) }
    return try Answer(try channel.sentText()).body
  }

  @Test("Rules apply to anonymous callers per target and per batch")
  func anonymous() throws {
    let listener = try server.open("Listen", server.form(0, server.listen("c/a")))
    let refusal = try heard("Listen", listener)
    #expect(refusal.contains(#""targetChangeType":"REMOVE","targetIds":[2],"cause":{"code":7,"#))

    let writer = try server.open("Write", server.form(0, #"{"database":"\#(database.name)"}"#))
    #expect(try heard("Write", writer).contains("streamToken"))
    _ = try server.ask("POST", "Write", "SID=\(writer)&RID=2&AID=0", server.form(1, server.write("c/a", "x")))
    #expect(try heard("Write", writer).contains(#""message":"PERMISSION_DENIED: Missing or insufficient permissions."#))
  }

  @Test("A session opened by an administrator keeps that access for later requests")
  func administrator() throws {
    let message = server.form(0, server.listen("c/a"))
    let sessions = [
      try server.open("Listen", "headers=\(Self.owner)&" + message),
      try server.open("Listen", message, "&%24httpHeaders=\(Self.owner)"),
      try server.open("Listen", message, header: "Authorization: Bearer owner"),
    ]
    for session in sessions {
      _ = try server.ask("POST", "Listen", "SID=\(session)&RID=2", server.form(1, server.listen("c/b", target: 4)))
      let text = try heard("Listen", session)
      #expect(text.contains(#""CURRENT","targetIds":[2]"#) && text.contains(#""CURRENT","targetIds":[4]"#))
      #expect(!text.contains("REMOVE"))
    }
  }

  @Test("An invalid token ends the stream with the reason")
  func nonsense() throws {
    let session = try server.open(
      "Listen", "headers=Authorization%3ABearer%20nonsense%0D%0A&" + server.form(0, server.listen("c/a")))
    let text = try heard("Listen", session)
    #expect(text.contains(#""message":"INVALID_ARGUMENT: invalid jwt"#) && text.hasSuffix(#"["close"]]]"#))
    #expect(server.backend.openWatches == 0)
  }
}
