// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreServer
import FirestoreService
import FirestoreTesting
import NIOCore
import NIOEmbedded
import NIOHTTP1
import ServerTesting
import Synchronization
import Testing

@testable import FirestoreEmulator

/// What speaks plain HTTP, or nothing that is known, on the port of the server.
@Suite struct PlainHTTPTests {
  private static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

  private func open(
    isLoopback: Bool = true, allowed: Set<String> = [], report: (@Sendable (String) -> Void)? = nil
  ) throws -> EmbeddedChannel {
    let service = try makeService()
    let origins = ControlOrigins(isLoopback: isLoopback, allowed: allowed, report: report)
    let channel = EmbeddedChannel()
    let budget = ConnectionBudget(on: channel.embeddedEventLoop)
    let channels = WebChannels(service, on: channel.embeddedEventLoop)
    try channel.pipeline.syncOperations.addHandler(
      SpokenProtocolHandler(
        handshake: .seconds(10),
        http1: { channel in
          try PortPipeline.addHTTP1(to: channel, service, origins, channels, budget, handshake: .seconds(10))
        },
        // What the server says first.
        http2: { channel in channel.writeAndFlush(ByteBuffer(string: "SETTINGS"), promise: nil) }))
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    return channel
  }

  @Test(
    "Any method gets an HTTP response, however the request is split",
    arguments: ["GET /", "PATCH /v1/x", "TRACE /", "CONNECT a:1", "PRI /", "P /", "post /"], [1, 3, 100])
  func methods(request: String, piece: Int) throws {
    let channel = try open()
    var rest = Substring("\(request) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    while !rest.isEmpty, channel.isActive {
      try channel.receive(String(rest.prefix(piece)))
      rest = rest.dropFirst(piece)
    }
    let answer = try channel.sentText()
    let isMethod = !["PRI /", "P /", "post /"].contains(request)
    let refusal = isMethod ? "HTTP/1.1 404 Not Found\r\n" : "HTTP/1.1 400 Bad Request\r\n"
    #expect(answer.hasPrefix(request == "GET /" ? "HTTP/1.1 200 OK\r\n" : refusal))
    // What HTTP/2 says first is not for such a client.
    #expect(!answer.contains("SETTINGS"))
  }

  @Test("HTTP/2 starts after the complete preface without losing a byte", arguments: [1, 5, 24, 30])
  func preface(piece: Int) throws {
    let channel = try open()
    var rest = Substring(Self.preface + "frames")
    while !rest.isEmpty {
      try channel.receive(String(rest.prefix(piece)))
      rest = rest.dropFirst(piece)
    }
    var received = ""
    while let buffer = try channel.readInbound(as: ByteBuffer.self) { received += String(buffer: buffer) }
    #expect(received == Self.preface + "frames")
    #expect(try channel.sentText() == "SETTINGS")
  }

  @Test(
    "Invalid HTTP gets an error immediately",
    arguments: ["\u{16}\u{3}\u{1}", "GET /\r\n\r\n", "{\"a\": 1}", "A B C\r\n\r\n"])
  func garbage(bytes: String) throws {
    let channel = try open()
    try channel.receive(bytes)
    #expect(try channel.sentText().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
    #expect(!channel.isActive)
  }

  private func ask(_ method: String, _ target: String, from page: String, _ channel: EmbeddedChannel) throws -> String {
    try channel.receive(
      "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nOrigin: \(page)\r\nAccess-Control-Request-Method: POST\r\n"
        + "Content-Length: 0\r\n\r\n")
    return try channel.sentText()
  }

  @Test(
    "A page from an allowed origin can use the data but cannot control the emulator",
    arguments: ["null", "chrome-extension://abcdef", "http://app.test:3000", "https://my.example"], [true, false])
  func allowed(page: String, isLoopback: Bool) throws {
    let channel = try open(isLoopback: isLoopback, allowed: [page])
    let data = "/v1/projects/p/databases/(default)/documents/c/a"
    let stream = "/google.firestore.v1.Firestore/Listen/channel"
    for (method, target) in [("OPTIONS", data), ("GET", data), ("OPTIONS", stream), ("POST", stream + "?VER=8&RID=1")] {
      let answer = try ask(method, target, from: page, channel)
      #expect(!answer.contains(" 403 "), "\(method) \(target): \(answer)")
      #expect(answer.contains("Access-Control-Allow-Origin: \(page)\r\n"), "\(method) \(target): \(answer)")
    }
    let controls = "/emulator/v1/projects/p:securityRules"
    for (method, target) in [("OPTIONS", controls), ("GET", controls), ("POST", "/reset"), ("GET", "/requests")] {
      #expect(try ask(method, target, from: page, channel).hasPrefix("HTTP/1.1 403 "), "\(method) \(target)")
    }
    for other in ["http://app.test", "http://app.test:3001", "https://app.test:3000", "https://other.my.example"] {
      #expect(try ask("GET", data, from: other, channel).hasPrefix("HTTP/1.1 403 "), "\(other)")
    }
  }

  @Test("An allowed page from the internet passes the private network preflight")
  func privateNetwork() throws {
    for (page, isAllowed) in [("https://my.example", true), ("https://other.example", false)] {
      let channel = try open(allowed: ["https://my.example"])
      try channel.receive(
        "OPTIONS /v1/projects/p/databases/(default)/documents:commit HTTP/1.1\r\nHost: localhost\r\nOrigin: \(page)\r\n"
          + "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Private-Network: true\r\n\r\n")
      #expect(try channel.sentText().contains("Access-Control-Allow-Private-Network: true\r\n") == isAllowed)
    }
  }

  @Test("Each rejected page origin is reported once, with the option that allows it")
  func reported() throws {
    let told = Mutex<[String]>([])
    let channel = try open(allowed: ["null"]) { line in told.withLock { $0.append(line) } }
    let data = "/v1/projects/p/databases/(default)/documents/c/a"
    for page in ["http://app.test:3000", "http://app.test:3000", "null", "http://localhost:3000", "https://x.example"] {
      _ = try ask("GET", data, from: page, channel)
    }
    let lines = told.withLock { $0 }
    #expect(lines.count == 2)
    #expect(lines[0].contains("--allow-origin http://app.test:3000") && lines[1].contains("https://x.example"))
    for number in 0..<1_000 { _ = try ask("GET", data, from: "http://\(number).example", channel) }
    #expect(told.withLock { $0.count } == 100)
  }

  @Test("A request with two Host headers is rejected", arguments: ["localhost", "evil.example"])
  func hosts(second: String) throws {
    let channel = try open()
    try channel.receive("GET / HTTP/1.1\r\nHost: localhost\r\nhost: \(second)\r\n\r\n")
    #expect(try channel.sentText().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
  }

  @Test("An HTTP/1.1 request without a host is rejected, and HTTP/1.0 is accepted")
  func missingHost() throws {
    for (version, status) in [("1.1", "400"), ("1.0", "200")] {
      let channel = try open()
      try channel.receive("GET / HTTP/\(version)\r\n\r\n")
      #expect(try channel.sentText().dropFirst(9).hasPrefix(status))
    }
  }

  @Test(
    "The host in an absolute request target overrides the Host header",
    arguments: [("http://localhost:1", "evil.example", false), ("HTTP://evil.example", "localhost", true)])
  func absoluteTarget(root: String, host: String, isForbidden: Bool) throws {
    let channel = try open()
    try channel.receive("DELETE \(root)/emulator/v1/\(database.documentsName) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
    #expect(try channel.sentText().hasPrefix("HTTP/1.1 403 ") == isForbidden)
  }

  @Test("A connection serves consecutive requests, including pipelined ones")
  func persistent() throws {
    let channel = try open()
    try channel.receive("GET / HTTP/1.1\r\nHost: localhost\r\n\r\nHEAD /?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\nGET")
    let answers = try channel.sentText()
    let first =
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n"
      + "Connection: keep-alive\r\n\r\n"
    #expect(answers == first + "Ok\n" + first)
    try channel.receive(" / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    #expect(try channel.sentText().hasSuffix("Connection: close\r\n\r\nOk\n"))
    #expect(!channel.isActive)
  }

  @Test("A client that sends no request is disconnected")
  func deadlines() throws {
    let silent = try open()
    silent.embeddedEventLoop.advanceTime(by: .seconds(9))
    #expect(silent.closeFuture.isPending)
    silent.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!silent.closeFuture.isPending)

    let slow = try open()
    try slow.receive("PRI * HT")
    slow.embeddedEventLoop.advanceTime(by: .seconds(10))
    #expect(!slow.closeFuture.isPending)

    let unfinished = try open()
    try unfinished.receive("GET / HTTP/1.1\r\nHost: ")
    unfinished.embeddedEventLoop.advanceTime(by: .seconds(10))
    #expect(try unfinished.sentText().hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))

    let speaking = try open()
    try speaking.receive(Self.preface)
    speaking.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(speaking.closeFuture.isPending)
    _ = try? speaking.finish()
  }

  @Test(
    "A page of another site cannot delete anything, even with DNS rebinding",
    arguments: [
      ("evil.example:8080", nil), ("evil.example", "http://evil.example"), ("127.0.0.1:80", "http://evil.example"),
      ("localhost", "null"), ("127.0.0.1.evil.example", nil),
    ] as [(String, String?)])
  func foreign(host: String, origin: String?) throws {
    let channel = try open()
    let line = origin.map { "Origin: \($0)\r\n" } ?? ""
    try channel.receive(
      "DELETE /emulator/v1/projects/p/databases/(default)/documents HTTP/1.1\r\nHost: \(host)\r\n\(line)\r\n")
    #expect(try channel.sentText().hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
  }

  @Test(
    "Only local pages pass the preflight for control requests",
    arguments: [("http://localhost:5000", "200 OK"), ("http://evil.example", "403 Forbidden")])
  func preflight(page: String, code: String) throws {
    let channel = try open()
    try channel.receive(
      "OPTIONS /emulator/v1/projects/p:securityRules HTTP/1.1\r\nHost: localhost\r\nOrigin: \(page)\r\n"
        + "Access-Control-Request-Method: PUT\r\n\r\n")
    let answer = try channel.sentText()
    #expect(answer.hasPrefix("HTTP/1.1 \(code)\r\n"))
    #expect(answer.contains("Access-Control-Allow-Origin: \(page)\r\n") == code.hasPrefix("200"))
    #expect(answer.contains("PUT") == code.hasPrefix("200"))
  }

  @Test("A local DELETE removes everything below its path before the response")
  func deletes() async throws {
    let backend = try LocalBackend(
      BackendConfiguration(location: .memory, now: { Timestamp(microseconds: 1_000_000_000) }))
    for path in ["c/a", "c/a/d/b", "e/f"] {
      let mutation = Mutation(key: DocumentKey(unchecked: ResourcePath(path)), operation: .set([:]))
      try await backend.commit([mutation], in: database)
    }
    let channel = NIOAsyncTestingChannel()
    try await channel.eventLoop.submit {
      let limits = ConnectionLimits.loopback
      let budget = ConnectionBudget(limits, ServerBudget(on: channel.eventLoop, limit: 1 << 30), on: channel.eventLoop)
      let service = FirestoreService(backend: backend)
      try PortPipeline.addHTTP1(
        to: channel, service, ControlOrigins(isLoopback: true), WebChannels(service, on: channel.eventLoop), budget,
        handshake: .seconds(10))
    }.get()
    let page = "http://localhost:5000"
    for (path, code) in [("c", "200 OK"), ("c//a", "404 Not Found")] {
      let request =
        "DELETE /emulator/v1/\(database.documentsName)/\(path) HTTP/1.1\r\nHost: localhost\r\nOrigin: \(page)\r\n\r\n"
      try await channel.writeInbound(ByteBuffer(string: request))
      var head = ""
      // The body of the answer before may come first.
      while !head.hasPrefix("HTTP/1.1") {
        head = String(buffer: try await channel.waitForOutboundWrite(as: ByteBuffer.self))
      }
      #expect(head.hasPrefix("HTTP/1.1 \(code)\r\n"))
      // A page reads the answer.
      #expect(head.contains("Access-Control-Allow-Origin: \(page)\r\n") == code.hasPrefix("200"))
    }
    #expect(try await backend.collectionIDs(below: .root, in: database) == ["e"])
    _ = try await channel.finish()
  }

  @Test("Control paths reject other sites' pages and form posts from other local pages")
  func pages() throws {
    let origins = ControlOrigins(isLoopback: true)
    func objection(_ method: HTTPMethod, _ headers: HTTPHeaders) -> String? {
      let all: HTTPHeaders = ["Host": "localhost:8080"]
      var head = HTTPRequestHead(version: .http1_1, method: method, uri: "/reset", headers: all)
      head.headers.add(contentsOf: headers)
      return origins.controlObjection(PlainRequest(head))
    }
    #expect(objection(.GET, ["Sec-Fetch-Site": "cross-site"]) != nil)
    #expect(objection(.GET, ["Sec-Fetch-Site": "same-site"]) == nil)
    #expect(objection(.POST, [:]) == nil)
    let page = ("Origin", "http://localhost:5173")
    #expect(objection(.POST, HTTPHeaders([page])) != nil)
    #expect(objection(.POST, HTTPHeaders([page, ("Content-Type", "text/plain")])) != nil)
    #expect(objection(.POST, HTTPHeaders([page, ("Content-Type", "application/json")])) == nil)
    #expect(objection(.POST, HTTPHeaders([page, ("X-Requested-With", "tests")])) == nil)
    #expect(objection(.DELETE, HTTPHeaders([page])) == nil && objection(.PUT, HTTPHeaders([page])) == nil)
    #expect(objection(.POST, ["Origin": "http://localhost:8080"]) == nil)
  }

  @Test("A local port accepts only local hosts and pages; an open port accepts any host")
  func own() {
    let local = ControlOrigins(isLoopback: true)
    for host in ["localhost:8080", "127.0.0.1:1", "127.1.2.3", "[::1]:8080", "LOCALHOST", "ui.localhost", nil] {
      #expect(local.objection(host: host, origin: nil) == nil)
      #expect(local.objection(host: host, origin: "http://localhost:4000") == nil)
    }
    let open = ControlOrigins(isLoopback: false)
    #expect(open.objection(host: "db.example:8080", origin: nil) == nil)
    #expect(open.objection(host: "db.example:8080", origin: "http://db.example:4000") == nil)
    #expect(open.objection(host: "db.example:8080", origin: "http://localhost:4000") != nil)
  }

  @Test(
    "A control path may have a trailing slash or a query and end in any resource path",
    arguments: [
      ("documents", ""), ("documents/", ""), ("documents?x=1", ""), ("documents/c", "c"), ("documents/c/a", "c/a"),
      ("documents/c/a/?x", "c/a"), ("documents/%c3%a9/b", "é/b"),
    ])
  func paths(suffix: String, path: String) {
    let target = "/emulator/v1/projects/p/databases/(default)/\(suffix)"
    let request = PlainRequest(HTTPRequestHead(version: .http1_1, method: .DELETE, uri: target))
    #expect(request.wish == .control(.delete(below: ResourcePath(path), DatabaseID(project: "p"))))
  }

  @Test(
    "A malformed path below /emulator is not a control path",
    arguments: ["documents//c", "documents/c//a", "documentsx", "documents/a%2Fb"])
  func otherPaths(suffix: String) {
    let target = "/emulator/v1/projects/p/databases/(default)/\(suffix)"
    #expect(PlainRequest(HTTPRequestHead(version: .http1_1, method: .DELETE, uri: target)).wish == .unknown)
  }
}
