// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreBackend
import FirestoreJSON
import FirestoreModel
import FirestoreRules
import FirestoreService
import FirestoreTesting
import NIOCore
import NIOEmbedded
import NIOHPACK
import ServerTesting
import Testing

@testable import FirestoreEmulator
@testable import FirestoreServer

/// Listeners under rules, on the wire: what becomes of others' documents, and of those whose token expires.
@Suite struct RuledListenTests {
  private static let rules = """
    service cloud.firestore { match /databases/{d}/documents { match /notes/{id} {
      allow read: if resource.data.owner == request.auth.uid; } } }
    """

  private let loop = EmbeddedEventLoop()
  private let clock = TestClock(seconds: 1_000)

  private func makeRules(signed: Bool = false) throws -> AccessRules {
    let clock = clock
    let keys = TokenReader.Keys(owner: nil, now: { clock.now().seconds }) { _, _, _ in true }
    let rules = AccessRules(TokenReader(signed ? keys : nil))
    rules.set(.ruleset(try #require(Ruleset.compile([RulesFile(name: "rules", content: Self.rules)]).ruleset)))
    return rules
  }

  private static func token(_ claims: String) -> String {
    func encoded(_ text: String) -> String { Base64.encode(Array(text.utf8)).filter { $0 != "=" } }
    return "Bearer \(encoded(#"{"alg":"RS256"}"#)).\(encoded(claims)).\(encoded("x"))"
  }

  private static let mallory = token(#"{"sub":"mallory"}"#)

  private func note(_ backend: LocalBackend, _ id: String, _ owner: String, _ text: String) throws {
    let mutation = Mutation(
      key: DocumentKey(unchecked: ResourcePath("notes/\(id)")),
      operation: .set(["owner": .string(owner), "text": .string(text)]))
    _ = try backend.assumeIsolated { backend in try backend.commit([mutation], in: database) }
  }

  private static func addTarget(_ token: [UInt8]? = nil) -> [UInt8] {
    framed { writer in
      writer.field(1, string: database.name)
      writer.field(2) { writer in
        writer.field(2) { writer in
          writer.field(1, string: database.documentsName)
          writer.field(2) { writer in
            writer.field(2) { $0.field(2, string: "notes") }
            writer.field(3) { writer in
              writer.field(2) { writer in
                writer.field(1) { $0.field(2, string: "owner") }
                writer.field(2, varint: 5)
                writer.field(3) { $0.value(.string("mallory")) }
              }
            }
          }
        }
        if let token { writer.field(4, bytes: token) }
        writer.field(5, varint: 2)
      }
    }
  }

  private func listen(
    _ backend: LocalBackend, _ rules: AccessRules, as authorization: String, _ token: [UInt8]? = nil
  ) throws -> TestConnection {
    let service = FirestoreService(backend: backend, rules: rules)
    let connection = try TestConnection(CallPipeline(service, on: loop), on: loop)
    var headers = HPACKHeaders.call("Listen")
    headers.add(name: "authorization", value: authorization)
    try connection.send(1, .headers(headers), .data(Self.addTarget(token), isLast: false))
    return connection
  }

  private func sent(_ connection: TestConnection) throws -> [UInt8] {
    loop.advanceTime(by: .milliseconds(1))
    return try connection.frames().flatMap(\.bytes)
  }

  @Test("A gRPC listener that resumes under rules receives no data of other users")
  func grpc() throws {
    let (backend, rules) = (try makeBackend(), try makeRules())
    try note(backend, "mine", "mallory", "hello")
    try note(backend, "alice1", "alice", "old")
    let first = try listen(backend, rules, as: Self.mallory)
    #expect(try sent(first).containsText("hello"))
    try note(backend, "mine", "alice", "SECRET 1")
    #expect(try !sent(first).containsText("SECRET"))
    try note(backend, "mine", "mallory", "again")
    let bytes = try sent(first)
    #expect(bytes.containsText("again"))
    // A token has 25 bytes after its field's tag and length.
    let start = try #require(bytes.indices.last { bytes[$0...].starts(with: [0x22, 25, 1]) })
    let token = Array(bytes[(start + 2)..<(start + 27)])
    _ = try first.channel.finish()

    try note(backend, "alice1", "alice", "SECRET 2")
    try note(backend, "bob1", "bob", "SECRET 3")
    try note(backend, "mine", "bob", "SECRET 4")
    let second = try listen(backend, rules, as: Self.mallory, token)
    let resumed = try sent(second)
    #expect(!resumed.containsText("SECRET") && !resumed.containsText("alice1") && !resumed.containsText("bob1"))
    #expect(resumed.containsText("notes/mine"))
    _ = try second.channel.finish()
  }

  @Test("A WebChannel listener that resumes under rules receives no data of other users")
  func webChannel() throws {
    let server = try BrowserFixture(rules: try makeRules())
    let headers = "headers=Authorization%3A\(Self.mallory.replacing(" ", with: "%20"))%0D%0A&"
    func listen(_ token: String?) -> String {
      #"{"database":"\#(database.name)","addTarget":{"query":{"parent":"\#(database.documentsName)","structuredQuery":"#
        + #"{"from":[{"collectionId":"notes"}],"where":{"fieldFilter":{"field":{"fieldPath":"owner"},"op":"EQUAL","#
        + #""value":{"stringValue":"mallory"}}}}},"# + (token.map { #""resumeToken":"\#($0)","# } ?? "")
        + #""targetId":2}}"#
    }
    try note(server.backend, "mine", "mallory", "hello")
    try note(server.backend, "alice1", "alice", "old")
    let first = try server.open("Listen", headers + server.form(0, listen(nil)))
    let channel = try server.back("Listen", first, after: 0)
    let text = try Answer(try channel.sentText()).body
    #expect(text.contains("hello"))
    let token = try #require(text.split(separator: #""resumeToken":""#).last?.prefix { $0 != "\"" })
    try note(server.backend, "mine", "alice", "SECRET 1")
    server.loop.run()
    let left = try channel.sentText()
    #expect(left.contains("documentRemove") && !left.contains("SECRET"))
    _ = try server.ask("GET", "Listen", "SID=\(first)&TYPE=terminate")

    try note(server.backend, "alice1", "alice", "SECRET 2")
    try note(server.backend, "bob1", "bob", "SECRET 3")
    let second = try server.open("Listen", headers + server.form(0, listen(String(token))))
    let back = try server.back("Listen", second, after: 0)
    let resumed = try Answer(try back.sentText()).body
    #expect(resumed.contains("documentRemove") && resumed.contains("notes/mine") && resumed.contains("CURRENT"))
    #expect(!resumed.contains("SECRET") && !resumed.contains("alice1") && !resumed.contains("bob1"))
    back.close(promise: nil)
  }

  private static let claims = #"{"sub":"mallory","aud":"p","iss":"https://securetoken.google.com/p","exp":1500}"#

  @Test("A listener ends when its token expires, on both transports")
  func expiry() throws {
    let (backend, rules, token) = (try makeBackend(), try makeRules(signed: true), Self.token(Self.claims))
    let connection = try listen(backend, rules, as: token)
    let server = try BrowserFixture(rules: rules)
    let session = try server.open(
      "Listen",
      "headers=Authorization%3A\(token.replacing(" ", with: "%20"))%0D%0A&" + server.form(0, server.listen("x/y")))
    let back = try server.back("Listen", session, after: 0)
    _ = (try sent(connection), try back.sentText())

    // The clock is behind: it was set back.
    clock.set(seconds: 1_559)
    loop.advanceTime(by: .seconds(561))
    server.loop.advanceTime(by: .seconds(5))
    #expect(try connection.frames().isEmpty)
    #expect(try !back.sentText().contains("UNAUTHENTICATED"))
    clock.set(seconds: 1_560)
    loop.advanceTime(by: .seconds(1))
    server.loop.advanceTime(by: .seconds(5))
    #expect(try connection.summaries() == ["END 16", "RESET"])
    #expect(try back.sentText().contains("UNAUTHENTICATED") && backend.openWatches == 0)
    back.close(promise: nil)
  }
}
