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
import Testing

@testable import FirestoreEmulator

/// REST on a connection: how bodies come, how answers go, and who may ask.
@Suite struct RESTConnectionTests {
  private static let root = "/v1/\(database.documentsName)"

  private func open(_ backend: LocalBackend? = nil) throws -> EmbeddedChannel {
    let service = FirestoreService(backend: try backend ?? makeBackend())
    let channel = EmbeddedChannel()
    try PortPipeline.addHTTP1(
      to: channel, service, ControlOrigins(isLoopback: true), WebChannels(service, on: channel.embeddedEventLoop),
      ConnectionBudget(on: channel.embeddedEventLoop), handshake: .seconds(10))
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    return channel
  }

  private func request(_ verb: String, _ path: String, _ headers: String..., body: String = "") -> String {
    let lines = (["Host: localhost"] + headers).map { $0 + "\r\n" }.joined()
    return "\(verb) \(Self.root)\(path) HTTP/1.1\r\n\(lines)\r\n\(body)"
  }

  private func status(_ answer: String) -> String { String(answer.prefix { $0 != "\r\n" }.dropFirst(9)) }

  @Test("A pipelined request reads the document that the previous request wrote", arguments: [7, 100_000])
  func pipelined(piece: Int) throws {
    let channel = try open()
    let body = #"{"fields": {"a": {"stringValue": "é"}}}"#
    let text =
      request("PATCH", "/c/a?prettyPrint=false", "Content-Length: \(body.utf8.count)", body: body)
      + request("GET", "/c/a?prettyPrint=false") + request("GET", "/c/b", "Connection: close")
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      try channel.writeInbound(ByteBuffer(bytes: bytes.prefix(piece)))
      bytes = bytes.dropFirst(piece)
    }
    let answers = try channel.sentText().split(separator: "HTTP/1.1 ")
    #expect(answers.map { $0.prefix(3) } == ["200", "200", "404"])
    #expect(answers[0] == answers[1])
    #expect(answers[1].contains("Content-Type: application/json; charset=UTF-8\r\n"))
    #expect(answers[1].contains("Connection: keep-alive\r\n"))
    #expect(answers[1].contains("\"fields\":{\"a\":{\"stringValue\":\"é\"}}"))
    #expect(answers[2].contains("\"status\": \"NOT_FOUND\""))
    #expect(!channel.isActive)
  }

  @Test("Small chunks are accepted, but chunks that are mostly extensions are rejected", arguments: [50, 20_000])
  func extensions(piece: Int) throws {
    let body = #"{"fields": {"a": {"stringValue": "\#(String(repeating: "x", count: 5_000))"}}}"#
    let head = request("PATCH", "/c/a", "Transfer-Encoding: chunked")
    let `extension` = ";a=" + String(repeating: "b", count: 300_000)
    for (count, isServed) in [(0, true), (4, true), (300_000, false)] {
      let channel = try open()
      let chunks = body.enumerated().map { index, character in
        let isLong = count < 10 || index == 100
        return "1\(isLong ? `extension`.prefix(count) : "")\r\n\(character)\r\n"
      }
      var rest = Substring(head + chunks.joined() + "0\r\n\r\n")
      while !rest.isEmpty, channel.isActive {
        try channel.receive(String(rest.prefix(piece)))
        rest = rest.dropFirst(piece)
      }
      let answer = try channel.sentText()
      #expect(answer.hasPrefix(isServed ? "HTTP/1.1 200 " : "HTTP/1.1 400 "), "\(count): \(answer.prefix(200))")
    }
  }

  @Test("A chunked body is accepted, and Expect: 100-continue is answered")
  func chunks() throws {
    let channel = try open()
    try channel.receive(request("POST", "/c?documentId=a", "Transfer-Encoding: chunked", "Expect: 100-continue"))
    #expect(try channel.sentText() == "HTTP/1.1 100 Continue\r\n\r\n")
    try channel.receive("9\r\n{\"fields\"\r\n6\r\n: {} }\r\n0\r\n\r\n")
    #expect(status(try channel.sentText()) == "200 OK")
    _ = try channel.finish()
  }

  @Test("An oversized body is rejected early, and the connection closes")
  func large() throws {
    for opening in ["Content-Length: 11534337", "Transfer-Encoding: chunked"] {
      let channel = try open()
      try channel.receive(request("POST", ":commit", opening))
      if opening.hasPrefix("Transfer") {
        // More than the connection may hold.
        let piece = String(repeating: " ", count: 1 << 16)
        for _ in 0..<17 where channel.isActive { try channel.receive("10000\r\n\(piece)\r\n") }
        #expect(status(try channel.sentText()) == "429 Too Many Requests")
      } else {
        let answer = try channel.sentText()
        #expect(status(answer) == "413 Payload Too Large")
        #expect(answer.contains("\"code\": 413,"))
        #expect(answer.contains("\"message\": \"Request payload size exceeds the limit: 11534336 bytes.\""))
        #expect(answer.contains("Connection: close"))
      }
      channel.embeddedEventLoop.advanceTime(by: .seconds(3))
      #expect(!channel.closeFuture.isPending)
    }
  }

  @Test("A stalled body and an oversized head get an error")
  func unfinished() throws {
    let stopped = try open()
    try stopped.receive(request("POST", ":commit", "Content-Length: 10", body: "{"))
    stopped.embeddedEventLoop.advanceTime(by: .seconds(10))
    #expect(status(try stopped.sentText()) == "408 Request Timeout")

    let long = try open()
    try long.receive(request("GET", "/c", "X: " + String(repeating: "x", count: 20_000)))
    #expect(status(try long.sentText()) == "431 Request Header Fields Too Large")
  }

  @Test("Only local pages may send requests and read responses")
  func origins() throws {
    let channel = try open()
    let page = "http://localhost:3000"
    try channel.receive(
      request(
        "OPTIONS", "/c/a", "Origin: \(page)", "Access-Control-Request-Method: PATCH",
        "Access-Control-Request-Headers: content-type,x-goog-api-client"))
    let preflight = try channel.sentText()
    #expect(status(preflight) == "200 OK")
    for line in [
      "Access-Control-Allow-Origin: \(page)", "Access-Control-Allow-Headers: content-type,x-goog-api-client",
      "Access-Control-Allow-Methods: DELETE,GET,HEAD,PATCH,POST,PUT", "Access-Control-Allow-Credentials: true",
      "Vary: Origin",
    ] { #expect(preflight.contains(line + "\r\n")) }
    try channel.receive(request("GET", "/c/a", "Origin: \(page)"))
    let missing = try channel.sentText()
    #expect(status(missing) == "404 Not Found")
    #expect(missing.contains("Access-Control-Allow-Origin: \(page)\r\n"))

    for line in ["Origin: https://evil.example", "Origin: null"] {
      try channel.receive(request("POST", ":commit", line, "Content-Type: text/plain", "Content-Length: 2", body: "{}"))
      let refusal = try channel.sentText()
      #expect(status(refusal) == "403 Forbidden")
      #expect(refusal.contains("\"status\": \"PERMISSION_DENIED\""))
      #expect(!refusal.contains("Access-Control-Allow-Origin"))
    }
    _ = try channel.finish()
  }

  @Test("A shutdown closes idle connections, and busy connections after their response")
  func quiesce() throws {
    let idle = try open()
    idle.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(!idle.isActive)
    let asking = try open()
    try asking.receive(request("POST", ":commit", "Content-Length: 2", body: "{"))
    asking.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    try asking.receive("}")
    let answer = try asking.sentText()
    #expect(status(answer) == "200 OK" && answer.contains("Connection: close"))
    #expect(!asking.isActive)
  }
}
