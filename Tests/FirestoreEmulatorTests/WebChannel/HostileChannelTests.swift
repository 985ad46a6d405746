// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import NIOCore
import NIOEmbedded
import NIOHPACK
import SeededRandom
import ServerTesting
import Testing

@testable import FirestoreEmulator
@testable import FirestoreServer

/// Sessions of WebChannel for which nobody cares, and requests that nobody should make.
@Suite struct HostileChannelTests {
  private let server: BrowserFixture

  init() throws { server = try BrowserFixture() }

  @Test("A page of another site gets neither a session nor CORS headers", arguments: ["POST", "GET"])
  func origins(verb: String) throws {
    for origin in ["https://evil.example", "null"] {
      let answer = try server.ask(verb, "Listen", "RID=1", server.form(0, server.listen("c/a")), origin: origin)
      #expect(answer.status == "403 Forbidden" && !answer.head.contains("Access-Control-Allow"))
    }
    #expect(server.channels.count == 0)
  }

  @Test("An unused session and its listeners end within a minute; a used session remains")
  func forgotten() throws {
    for _ in 0..<20 { _ = try server.open("Listen", server.form(0, server.listen("c/a"))) }
    let used = try server.open("Listen", server.form(0, server.listen("c/a")))
    let channel = try server.back("Listen", used, after: 0)
    #expect(server.backend.openWatches == 21)
    for _ in 0..<13 { server.loop.advanceTime(by: .seconds(5)) }
    #expect(server.backend.openWatches == 1 && server.channels.count == 1)
    #expect(try channel.sentText().contains("noop"))

    channel.close(promise: nil)
    for _ in 0..<13 { server.loop.advanceTime(by: .seconds(5)) }
    #expect(server.backend.openWatches == 0 && server.channels.count == 0)
  }

  @Test("The number of sessions is limited in total and per machine")
  func limits() throws {
    for limits in [WebChannels.Limits(sessions: 3, perAddress: 9), WebChannels.Limits(sessions: 9, perAddress: 3)] {
      let server = try BrowserFixture(limits)
      let sessions = try (0..<3).map { _ in try server.open("Listen", "") }
      #expect(try server.ask("POST", "Listen", "RID=1").status == "429 Too Many Requests")
      _ = try server.ask("GET", "Listen", "SID=\(sessions[0])&TYPE=terminate")
      #expect(try server.ask("POST", "Listen", "RID=1").status == "200 OK")
    }
  }

  @Test("A body that is too large or has too many messages is rejected")
  func large() throws {
    let channel = try server.connect()
    try channel.receive(
      "POST \(server.address("Listen", "RID=1")) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11534337\r\n\r\n")
    #expect(try channel.sentText().hasPrefix("HTTP/1.1 413 "))
    let many = (0...1_000).map { "req\($0)___data__=1" }.joined(separator: "&")
    let answer = try server.ask("POST", "Listen", "RID=1", many)
    #expect(answer.status == "400 Bad Request" && answer.body.contains("1000 messages"))
    #expect(server.channels.count == 0)
  }

  @Test("A client that acknowledges nothing receives limited data, and later the rest")
  func unacknowledged() throws {
    let session = try server.open("Listen", server.form(0, server.listen("c/a")))
    let text = String(repeating: "x", count: 200_000)
    var sizes: [Int] = []
    var last: Answer?
    for number in 0..<10 {
      let channel = try server.back("Listen", session, after: 0)
      try server.backend.set("c/a", "\(number)\(text)")
      server.loop.run()
      let answer = try Answer(try channel.sentText())
      sizes.append(answer.body.utf8.count)
      last = answer
      channel.close(promise: nil)
    }
    #expect(sizes[9] == sizes[8] && sizes[9] < ChannelSession.keptBytes + 300_000)
    let channel = try server.back("Listen", session, after: try #require(last?.arrays.last?.number))
    #expect(try channel.sentText().contains("\"9xxx"))
  }

  @Test("Every mutated request gets a response, and no session is left after a minute")
  func mutations() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededGenerator(seed: seed)
    var sessions = [try server.open("Listen", ""), try server.open("Write", "")]
    var counts: [String: Int] = [:]
    for _ in 0..<TestSize.count(800, full: 1_500) {
      let (method, id) = (random.pick(["Listen", "Write"]), random.pick(sessions))
      let query = random.pick([
        "RID=1&CVER=22", "SID=\(id)&RID=rpc&AID=1&CI=0&TYPE=xmlhttp", "SID=\(id)&RID=rpc&AID=0&CI=1&TYPE=xmlhttp",
        "SID=\(id)&RID=2&AID=9", "SID=\(id)&TYPE=terminate", "MODE=init",
      ])
      let target = String(
        decoding: random.mutated(query).filter { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }, as: UTF8.self)
      let form = random.pick([
        server.form(0, server.listen("c/a")), server.form(0, #"{"database":"\#(database.name)"}"#),
        server.form(1, server.write("c/a", "x"), server.write("c/b", "y")),
      ])
      let body = String(decoding: random.mutated(form), as: UTF8.self)
      let channel = try server.connect()
      let verb = random.pick(["GET", "POST"])
      try server.send(channel, verb, server.address(method, target), verb == "POST" ? body : "")
      server.loop.run()
      let text = try channel.sentText()
      if !text.isEmpty {
        let answer = try Answer(text)
        counts[answer.status, default: 0] += 1
        #expect(["200 OK", "400 Bad Request"].contains(answer.status), "seed \(seed): \(answer.head)")
        let parts = answer.body.split(separator: "\"")
        if answer.body.contains("[\"c\","), parts.count > 3 { sessions = [sessions[0], String(parts[3])] }
      }
      channel.close(promise: nil)
    }
    #expect(counts.count == 2, "seed \(seed): \(counts)")
    for _ in 0..<13 { server.loop.advanceTime(by: .seconds(5)) }
    #expect(server.channels.count == 0 && server.backend.openWatches == 0, "seed \(seed)")
  }

  @Test("A session works over HTTP/2 and outlives its connections")
  func http2() throws {
    let (service, loop) = (try makeService(), EmbeddedEventLoop())
    let channels = WebChannels(service, on: loop)
    let calls = EmulatorCalls(ControlOrigins(isLoopback: true), channels)
    let pipeline = CallPipeline(service, on: loop, .loopback, calls)
    func call(_ verb: String, _ query: String, _ body: String?) throws -> TestConnection {
      let connection = try TestConnection(pipeline, on: loop)
      let headers: HPACKHeaders = [
        ":method": verb, ":scheme": "http", ":path": server.address("Listen", query), ":authority": "localhost",
      ]
      try connection.send(1, .headers(headers, isLast: body == nil))
      if let body { try connection.send(1, .data(Array(body.utf8))) }
      return connection
    }
    let opening = try call("POST", "RID=1", server.form(0, server.listen("c/a")))
    let answer = try opening.frames()
    let greeting = answer.flatMap { $0.kind == .data ? $0.bytes : [] }.text
    #expect(answer.first?.headers.first(name: ":status") == "200" && answer.last?.isLast == true)
    #expect(greeting.hasPrefix("60\n[[0,[\"c\",\""))
    opening.channel.close(promise: nil)
    let session = String(try #require(greeting.split(separator: "\"").dropFirst(3).first))
    let back = try call("GET", "SID=\(session)&RID=rpc&AID=0&CI=0&TYPE=xmlhttp", nil)
    let told = try back.frames().flatMap { $0.kind == .data ? $0.bytes : [] }
    #expect(try JSONArrays(told).elements.map(\.number) == Array(1...5))
    back.channel.close(promise: nil)
  }
}
