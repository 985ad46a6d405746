// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreBackend
import FirestoreExports
import FirestoreJSON
import FirestoreModel
import FirestoreRules
import FirestoreServer
import FirestoreService
import FirestoreTesting
import Foundation
import NIOCore
import NIOHTTP1
import ServerTesting
import Synchronization
import Testing

@testable import FirestoreEmulator

@Suite("Emulator control requests")
struct ControlTests {
  private let backend: LocalBackend
  private let folder = TemporaryFolder()

  init() throws {
    backend = try makeBackend()
    try folder.make()
  }

  private func ask(
    _ target: String, _ body: String = "", _ origins: ControlOrigins = ControlOrigins(isLoopback: true)
  ) async throws -> (status: Int, text: String) {
    let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: target)
    let request = try #require(ControlRequest("POST", target))
    let work = ControlWork(FirestoreService(backend: backend), origins)
    let answer = await work.answer(request, Array(body.utf8), to: PlainRequest(head))
    return (Int(answer.status.code), String(buffer: answer.body))
  }

  private func export(_ members: String) async throws -> (status: Int, text: String) {
    try await ask("/emulator/v1/projects/p:export", "{\(members)}")
  }

  @Test("Protected data cannot be cleared over HTTP or gRPC")
  func protected() async throws {
    try backend.set("c/a", "1")
    let origins = ControlOrigins(isLoopback: true, protectsData: true)
    let answer = try await ask("/reset", "", origins)
    #expect(answer.status == 403 && answer.text.contains("--allow-reset"))
    let clear = try #require(
      ControlRequest("DELETE", "/emulator/v1/projects/\(database.project)/databases/(default)/documents/c"))
    let head = HTTPRequestHead(version: .http1_1, method: .DELETE, uri: "/")
    let service = FirestoreService(backend: backend)
    #expect(await ControlWork(service, origins).answer(clear, [], to: PlainRequest(head)).status == .forbidden)
    let calls = EmulatorCalls(origins, WebChannels(service, on: ServerThread.loop))
    #expect(throws: RPCStatus.self) {
      try calls.call("/google.firestore.emulator.v1.FirestoreEmulator/ClearData", nil, service)
    }
    #expect(try await ask("/reset").status == 200)
  }

  @Test("An export has one consistent version of a database; a second export replaces it")
  func export() async throws {
    for number in 0..<1_200 { try backend.set("c/\(number)/below/x", "\(number)") }
    try backend.set("other/x", "😀")
    let members = "\"database\": \"\(database.name)\", \"export_directory\": \"\(folder.path)\", \"export_name\": \"e\""

    for _ in 0..<2 {
      let answer = try await export(members)
      #expect(answer.status == 200 && answer.text == "{}\n")
    }

    var reader = try ExportReader(folder.path + "/e")
    var paths: Set<String> = []
    while let record = try reader.next() { paths.insert(try record.document().key.path.text) }
    #expect(paths.count == 1_201 && paths.contains("other/x") && paths.contains("c/999/below/x"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["e"])
  }

  @Test("An export without a name gets a generated name")
  func names() async throws {
    let answer = try await export("\"database\": \"\(database.name)\", \"exportDirectory\": \"\(folder.path)\"")

    #expect(answer.status == 200)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.count == 1 && names[0].hasPrefix("firestore_export_"))
  }

  @Test("An invalid export is rejected without writing anything")
  func refused() async throws {
    let database = "\"database\": \"\(database.name)\""
    let directory = "\"export_directory\": \"\(folder.path)\""
    let cases = [
      (directory, "INVALID_ARGUMENT"), ("\"database\": \"x\", \(directory)", "INVALID_ARGUMENT"),
      (database, "FAILED_PRECONDITION"), ("\(database), \"export_directory\": \"/absent/x\"", "FAILED_PRECONDITION"),
      ("\(database), \(directory), \"export_name\": \"../e\"", "INVALID_ARGUMENT"),
      ("\(database), \(directory), \"export_name\": \"..\"", "INVALID_ARGUMENT"),
      ("\(database), \"export_directory\": \"\(folder.path)\\u0000/x\"", "INVALID_ARGUMENT"),
      ("\(database), \(directory), \"export_name\": \"a\\u001b[2Jb\"", "INVALID_ARGUMENT"),
      ("\(database), \(directory), \"export_name\": \"a\\u009bb\"", "INVALID_ARGUMENT"),
      ("\(database), \(directory), \"export_name\": 7", "INVALID_ARGUMENT"), ("\"database\":", "INVALID_ARGUMENT"),
    ]
    for (members, code) in cases {
      let answer = try await export(members)
      #expect(answer.status == 400 && answer.text.contains("\"\(code)\""), "\(members)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test("A reset empties every database")
  func reset() async throws {
    try backend.set("c/a", "x")
    let other = DatabaseID(project: "q", database: "d")
    let mutation = Mutation(key: DocumentKey(unchecked: ResourcePath("c/b")), operation: .set([:]))
    _ = try await backend.commit([mutation], in: other)

    #expect(try await ask("/reset") == (200, "Resetting...\n"))

    for database in [database, other] { #expect(try await backend.collectionIDs(below: .root, in: database) == []) }
  }

  @Test("A shutdown request works only locally, and only if the server can stop")
  func shutDown() async throws {
    let stops = Atomic(0)
    func stop() { stops.add(1, ordering: .relaxed) }

    let answer = try await ask("/shutdown", "", ControlOrigins(isLoopback: true) { stops.add(1, ordering: .relaxed) })
    #expect(answer.status == 200)
    #expect(stops.load(ordering: .relaxed) == 1)
    #expect(try await ask("/shutdown").status == 400)
    let remote = ControlOrigins(isLoopback: false) { stops.add(1, ordering: .relaxed) }
    #expect(try await ask("/shutdown", "", remote).status == 403)
    #expect(try await ask("/emulator/v1/projects/p:export", "{}", remote).status == 403)
    #expect(stops.load(ordering: .relaxed) == 1)
  }

  private static let secret = "0123456789abcdef0123"

  /// Rules, with keys of which none has signed anything.
  private func guardedRules(owner: String?) throws -> AccessRules {
    let rules = AccessRules(TokenReader(TokenReader.Keys(owner: owner, now: { 0 }) { _, _, _ in false }))
    rules.set(
      .ruleset(
        try #require(
          Ruleset.compile([
            RulesFile(name: "r", content: "service cloud.firestore { match /a/{b} { allow get: if false; } }")
          ]).0)))
    return rules
  }

  private static let controls = [
    ("GET", "/emulator/v1/projects/p:securityRules", ""),
    (
      "PUT", "/emulator/v1/projects/p:securityRules",
      #"{"rules": {"files": [{"name": "r", "content": "service cloud.firestore { match /a/{b} { allow get: if false; } }"}]}}"#
    ),
    ("GET", "/emulator/v1/projects/p:ruleCoverage", ""), ("GET", "/emulator/v1/projects/p:requests", ""),
    ("GET", "/emulator/v1/projects/p:ruleCoverage.html", ""),
    ("GET", "/emulator/v1/projects/p:indexes", ""),
    ("DELETE", "/emulator/v1/projects/p/databases/(default)/documents", ""),
    ("DELETE", "/emulator/v1/projects/p/databases/(default)/documents/c/a", ""), ("POST", "/reset", ""),
    ("POST", "/emulator/v1/projects/p:export", "EXPORT"), ("POST", "/shutdown", ""),
  ]

  @Test("A server with keys accepts control only with the secret, even locally", arguments: [true, false])
  func guarded(isLoopback: Bool) async throws {
    let stops = Atomic(0)
    let service = FirestoreService(backend: backend, rules: try guardedRules(owner: Self.secret))
    let work = ControlWork(
      service, ControlOrigins(isLoopback: isLoopback) { stops.add(1, ordering: .relaxed) })
    let export = "{\"database\": \"\(database.name)\", \"export_directory\": \"\(folder.path)\"}"
    for (method, target, body) in Self.controls {
      let wish = try #require(ControlRequest(method, target))
      for (authorization, statuses) in [
        (nil, [403]), ("Bearer owner", [401]), ("Bearer \(Self.secret)x", [401]), ("Bearer \(Self.secret)", [200]),
      ] as [(String?, [UInt])] {
        var head = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: method), uri: target)
        if let authorization { head.headers.add(name: "authorization", value: authorization) }
        let bytes = Array((body == "EXPORT" ? export : body).utf8)
        let answer = await work.answer(wish, bytes, to: PlainRequest(head))
        #expect(statuses.contains(answer.status.code), "\(method) \(target) \(authorization ?? "-")")
      }
    }
    #expect(stops.load(ordering: .relaxed) == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    // What rules decide is told to nobody else either.
    #expect(work.refusal(of: nil)?.code == .permissionDenied)
    #expect(work.refusal(of: "Bearer owner")?.code == .unauthenticated)
    #expect(work.refusal(of: "Bearer \(Self.secret)") == nil)
  }

  @Test("With keys but no secret, control is denied; without keys, it is allowed locally")
  func nobody() throws {
    let loopback = ControlOrigins(isLoopback: true)
    let locked = ControlWork(FirestoreService(backend: backend, rules: try guardedRules(owner: nil)), loopback)
    for authorization in [nil, "Bearer owner", "Bearer "] { #expect(locked.refusal(of: authorization) != nil) }

    let rules = AccessRules()
    rules.set(
      .ruleset(
        try #require(
          Ruleset.compile([
            RulesFile(name: "r", content: "service cloud.firestore { match /a/{b} { allow get: if false; } }")
          ]).0)))
    #expect(ControlWork(FirestoreService(backend: backend, rules: rules), loopback).refusal(of: nil) == nil)
  }

  @Test("On a server without rules, remote callers cannot set rules")
  func openRules() async throws {
    let rules = AccessRules()
    let work = ControlWork(FirestoreService(backend: backend, rules: rules), ControlOrigins(isLoopback: false))
    let (method, target, body) = Self.controls[1]
    let head = HTTPRequestHead(version: .http1_1, method: .PUT, uri: target)

    let answer = await work.answer(
      try #require(ControlRequest(method, target)), Array(body.utf8), to: PlainRequest(head))

    #expect(answer.status.code == 403 && !rules.isActive)
  }

  @Test("Only POST requests can reset or shut down the server", arguments: ["GET", "DELETE", "HEAD"])
  func methods(method: String) {
    for target in ["/reset", "/shutdown", "/emulator/v1/projects/p:export"] {
      #expect(ControlRequest(method, target) == nil)
      #expect(ControlRequest("POST", target + "/") != nil || target.hasSuffix(":export"))
    }
  }

  @Test("An issue in the rules is reported with its start and end")
  func issues() throws {
    let control = RulesControl(AccessRules(), of: "p")
    let rules = "service cloud.firestore { match /a/{b} { allow read if true; } }"
    let files = "\"rules\": {\"files\": [{\"name\": \"r\", \"content\": \"\(rules)\"}]}"
    let place = #""line": 1, "column": 53, "currentOffset": 52, "endOffset": 53"#

    let error = try #require(throws: RPCStatus.self) { try control.replace(Array("{\(files)}".utf8)) }
    #expect(error.code == .invalidArgument)
    #expect(!text(control.current()).contains("issues"))
    let answer = text(try control.replace(Array("{\(files), \"ignore_errors\": true}".utf8)))
    #expect(answer.contains(place) && answer.contains("\"ERROR\""))
    #expect(text(control.current()).contains(place))
  }

  @Test("The coverage page shows the rules' text with the result of each expression")
  func coveragePage() async throws {
    let text = """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{d}/documents {
          match /c/{id} {
            allow get: if id == '<b>&"é😀' || resource.data.n > 1 && 1 < 2; // <script>
            allow create: if request.auth.uid == 'ä';
          }
        }
      }
      """
    let rules = AccessRules()
    rules.set(.ruleset(try #require(Ruleset.compile([RulesFile(name: "a<b.rules", content: text)]).0)))
    let service = FirestoreService(backend: backend, rules: rules)
    let anybody = try service.serving(as: nil)
    for name in ["c/a", "c/b"] {
      let request = WireWriter.message { $0.field(1, string: database.documentsName + "/" + name) }
      await #expect(throws: RPCStatus.self) { try await anybody.answer(.getDocument, request) { _ in } }
    }

    let answer = RulesControl(rules, of: "p<q").coveragePage()
    let page = String(buffer: answer.body)

    #expect(answer.headers["content-type"] == ["text/html; charset=utf-8"])
    #expect(page.contains("<title>Rules of p&lt;q</title>") && page.contains("<h2>a&lt;b.rules</h2>"))
    #expect(page.contains("<sup>false 2</sup>") && page.contains("class=\"never\""), "\(page)")
    #expect(!page.contains("<script") && !page.contains("<b>"))
    // Without its marks it is the text.
    let start = try #require(page.firstRange(of: "<pre>")).upperBound
    var shown = String(page[start..<(try #require(page.firstRange(of: "</pre>")).lowerBound)])
    shown = shown.replacing(try Regex("<sup>[^<]*</sup>|<[^>]*>"), with: "")
    for (mark, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")] {
      shown = shown.replacing(mark, with: character)
    }
    #expect(shown == text)

    let none = RulesControl(AccessRules(), of: "p").coveragePage()
    #expect(String(buffer: none.body).contains("allow read, write: if true"))
  }

  @Test("Denied requests are reported with the rules' values, allowed ones on demand")
  func requests() async throws {
    let text = """
      service cloud.firestore { match /databases/{d}/documents {
        match /c/{id} { allow get: if id == 'a'; }
        match /c/{id} { allow get: if request.auth.uid == id; }
      } }
      """
    let rules = AccessRules()
    let control = RulesControl(rules, of: database.project)
    #expect(self.text(control.requests()) == #"{ "requests": [], "rules": false }"#)
    rules.set(.ruleset(try #require(Ruleset.compile([RulesFile(name: "r", content: text)]).0)))
    let anybody = try FirestoreService(backend: backend, rules: rules).serving(as: nil)
    func ask(_ id: String) async {
      let request = WireWriter.message { $0.field(1, string: database.documentsName + "/c/" + id) }
      // What becomes of it is what the rules are asked about.
      try? await anybody.answer(.getDocument, request) { _ in }
    }
    func decisions() throws -> [JSONSyntax] {
      let json = try JSONSyntax(parsing: String(buffer: control.requests().body))
      guard case .array(let requests)? = json["requests"]?.kind else { return [] }
      return requests
    }
    func statements(_ decision: JSONSyntax) -> String {
      decision["statements"]?.lineText ?? "none"
    }

    for _ in 0..<60 { await ask("a") }
    let first = try decisions()
    let newest = try #require(first.last)
    #expect(first.count == 50 && statements(newest).contains(#""values": []"#), "\(newest.lineText)")
    await ask("a")
    await ask("b")
    let last = try decisions().suffix(2)

    #expect(
      last.map(statements) == [
        #"[{"line": 2, "text": "allow get: if id == 'a'", "result": "true", "#
          + #""values": [{"expression": "id", "value": "\"a\""}]}]"#,
        #"[{"line": 2, "text": "allow get: if id == 'a'", "result": "false", "#
          + #""values": [{"expression": "id", "value": "\"b\""}]}, "#
          + #"{"line": 3, "text": "allow get: if request.auth.uid == id", "result": "error", "#
          + #""message": "Null value error.", "values": [{"expression": "request.auth", "value": "null"}, "#
          + #"{"expression": "request.auth.uid", "error": "Null value error."}]}]"#,
      ], "\(last.map(statements))")
    for decision in last {
      guard case .double(let milliseconds)? = decision["milliseconds"]?.kind else {
        Issue.record("\(decision.lineText)")
        continue
      }
      #expect(milliseconds >= 0)
    }
  }

  @Test("An issue that concerns the whole rules file has no position")
  func noPlace() throws {
    let control = RulesControl(AccessRules(), of: "p")
    let rules = "service cloud.firestore { match /a/{b} { allow read; } }"

    let answer = text(
      try control.replace(
        Array("{\"rules\": {\"files\": [{\"name\": \"r\", \"content\": \"\(rules)\"}]}}".utf8)))

    #expect(answer.contains(#""sourcePosition": { "fileName": "r" }"#))
    #expect(answer.contains("\"WARNING\""))
  }

  private func text(_ answer: HTTPAnswer) -> String {
    String(buffer: answer.body).split { $0.isWhitespace }.joined(separator: " ")
  }
}
