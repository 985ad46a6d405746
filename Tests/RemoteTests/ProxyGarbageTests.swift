// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreProxy
import FirestoreTesting
import Foundation
import Testing

/// Clients and servers that say what nobody should, on the two sides of a proxy.
@Suite(.timeLimit(.minutes(10))) struct ProxyGarbageTests {
  private static let opening = RawRequest.preface + RawRequest.settings

  /// The bytes that a client sends, and the words that name it.
  struct Nonsense: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]
    var words: String

    init(_ name: String, _ bytes: [UInt8], _ words: String) {
      (testDescription, self.bytes, self.words) = (name, bytes, words)
    }
  }

  private static let call = RawRequest.headers(RawRequest.call("Commit"))

  static let ofClients = [
    Nonsense(
      "no frames", RawRequest.preface + Array("this is no frame, and never was".utf8),
      "it sent a frame of 7628905 bytes"),
    Nonsense(
      "no settings", RawRequest.preface + RawRequest.frame(6, [UInt8](repeating: 0, count: 8)),
      "another frame before its settings"),
    Nonsense(
      "bent headers", opening + RawRequest.frame(1, flags: 5, stream: 1, [0xff, 0xff, 0xff]),
      "headers that cannot be read"),
    Nonsense(
      "unknown header", opening + RawRequest.frame(1, flags: 5, stream: 1, [0xfe]), "headers that cannot be read"),
    Nonsense(
      "a server's stream", opening + RawRequest.headers(RawRequest.call("Commit"), stream: 2),
      "a stream with the even id 2"),
    Nonsense(
      "data of no stream", opening + RawRequest.data([1, 2, 3], stream: 7), "a frame of unknown stream 7"),
    Nonsense("data of the connection", opening + RawRequest.data([1, 2, 3], stream: 0), "a frame of unknown stream 0"),
    Nonsense(
      "data behind the end", opening + call + RawRequest.data([0], isLast: true) + RawRequest.data([0]),
      "after the end of a stream"),
    Nonsense(
      "headers without their end", opening + RawRequest.frame(1, stream: 1, [0x82]) + RawRequest.data([1]),
      "headers without an end"),
    Nonsense(
      "a continuation of nothing", opening + RawRequest.frame(9, flags: 4, stream: 1, [0x82]),
      "a continuation without headers"),
    Nonsense(
      "endless headers",
      opening + RawRequest.frame(1, stream: 1, [0x82])
        + (0..<8).flatMap { _ in RawRequest.frame(9, stream: 1, [UInt8](repeating: 0x82, count: 16_000)) },
      "bytes of headers"),
    Nonsense(
      "more padding than content", opening + call + RawRequest.frame(0, flags: 8, stream: 1, [200, 1]),
      "more padding than content"),
    Nonsense("half a setting", RawRequest.preface + RawRequest.frame(4, [0, 4, 0]), "settings with an invalid length"),
    Nonsense(
      "a huge window", RawRequest.preface + RawRequest.frame(4, [0, 4, 0xff, 0xff, 0xff, 0xff]),
      "a window of 4294967295 bytes"),
    Nonsense("no room", opening + RawRequest.frame(8, [0, 0, 0, 0]), "a window update of 0 bytes"),
    Nonsense("too much room", opening + RawRequest.frame(8, [0x7f, 0xff, 0xff, 0xff]), "a window of 2147549182 bytes"),
    Nonsense(
      "a push", opening + RawRequest.frame(5, flags: 4, stream: 1, [0, 0, 0, 2]), "a push, which is disabled"),
    Nonsense(
      "frames without content", opening + call + (0..<70).flatMap { _ in RawRequest.data([], isLast: false) },
      "frames without content"),
    Nonsense("half a frame", opening + Array(call.prefix(20)), "closed the connection in the middle of a frame"),
    Nonsense("half a preface's worth", RawRequest.preface, "closed the connection before HTTP/2 started"),
  ]

  @Test("A client that violates the protocol is reported and disconnected; others go on", arguments: ofClients)
  func client(_ nonsense: Nonsense) async throws {
    try await Server.run(try LocalBackend.inMemory()) { target in
      try await Proxied.run(to: target) { proxy in
        let other = GRPCDatastore(proxy.endpoint, database: database, credentials: .emulatorOwner)
        _ = try await other.lookup([key("c/a")])
        try await RawRequest.send(nonsense.bytes, to: proxy.endpoint)
        await proxy.events.waitForRemark(nonsense.words)
        let told = try #require(proxy.events.all.first { $0.remark?.contains(nonsense.words) == true })
        #expect(told.kind == .connection && told.connection == 2 && told.remark?.hasPrefix("the client ") == true)
        _ = try await other.lookup([key("c/a")])
        await other.close()
        // Each call that began has ended.
        await proxy.events.wait { $0.kind == .ended && $0.connection == 1 }
        let events = proxy.events.all.filter { $0.connection == 2 }
        let open = events.filter { $0.kind == .opened }.count - events.filter { $0.kind == .ended }.count
        #expect(open == 0)
      }
    }
  }

  @Test("A client that sends more than allowed is reported and disconnected")
  func overrun() async throws {
    try await RawServer.run { server in
      let ended = Task {
        for await connection in server.connections {
          await connection.send(RawRequest.settings)
          // Never gives room for more than a stream begins with.
          return await connection.end()
        }
      }
      try await Proxied.run(to: server.endpoint) { proxy in
        let part = RawRequest.data([UInt8](repeating: 1, count: 16_000), isLast: false)
        let query = RawRequest.headers(RawRequest.call("RunQuery"))
        try await RawRequest.send(Self.opening + query + (0..<75).flatMap { _ in part }, to: proxy.endpoint)
        await proxy.events.waitForRemark("it sent more bytes than its window allows")
        await ended.value
      }
    }
  }

  @Test("A silent client is reported and disconnected, before and after the preface", arguments: [0, 24])
  func silentClient(bytes: Int) async throws {
    try await Server.run(try LocalBackend.inMemory()) { target in
      try await Proxied.run(to: target, handshake: .milliseconds(50)) { proxy in
        let preface = String(decoding: RawRequest.preface.prefix(bytes), as: UTF8.self)
        // The connection may be closed before the client has come to say anything.
        _ = try? await RawHTTP.exchange(preface, proxy.endpoint)
        await proxy.events.wait { $0.kind == .connection && $0.remark?.contains("within 0 seconds") == true }
      }
    }
  }

  @Test("A client's upgrade request gets 501, and a server's unrequested upgrade gets 503")
  func upgrades() async throws {
    try await RawServer.run { server in
      let serving = Task {
        for await connection in server.connections {
          let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
          await connection.send(Array(head.utf8) + [0x81, 2, 0x68, 0x69])
        }
      }
      defer { serving.cancel() }
      try await Proxied.run(to: server.endpoint) { proxy in
        let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        let upgrade = try await RawHTTP.exchange(
          "GET /requests HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\(key)\r\n",
          proxy.endpoint)
        #expect(upgrade.hasPrefix("HTTP/1.1 501 ") && upgrade.contains("does not support the upgrade to websocket"))
        let unasked = try await RawHTTP.exchange(
          "GET /requests HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(key)\r\n", proxy.endpoint)
        #expect(unasked.hasPrefix("HTTP/1.1 503 ") && unasked.contains("without a request"))
      }
    }
  }

  static let ofServers = [
    Nonsense("HTTP/1", Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), "it sent HTTP/1 (\"HTTP/1.1 400 Bad Request\")"),
    Nonsense("TLS", [0x15, 3, 3, 0, 2, 2, 70, 0, 0], "it sent TLS; add --to-tls to the proxy"),
    Nonsense("no frames", Array("SSH-2.0-nobody\r\n".utf8), "it sent a frame of 5460808 bytes"),
    Nonsense("no settings", RawRequest.frame(6, [UInt8](repeating: 0, count: 8)), "another frame before its settings"),
    Nonsense(
      "bent headers", RawRequest.settings + RawRequest.frame(1, flags: 5, stream: 1, [0xff, 0xff, 0xff]),
      "headers that cannot be read"),
    Nonsense(
      "an answer to nothing", RawRequest.settings + RawRequest.headers([(":status", "200")], stream: 99),
      "a frame of unknown stream 99"),
    Nonsense(
      "a push", RawRequest.settings + RawRequest.frame(5, flags: 4, stream: 1, [0, 0, 0, 2]),
      "a push, which is disabled"),
    Nonsense("half a frame", RawRequest.settings + [0, 0, 4], "closed the connection in the middle of a frame"),
    Nonsense("nothing", [], "closed the connection before HTTP/2 started"),
  ]

  @Test(
    "A server that violates the protocol is reported, and its calls are unavailable",
    arguments: ofServers)
  func server(_ nonsense: Nonsense) async throws {
    try await RawServer.run { server in
      let ended = Task {
        for await connection in server.connections {
          guard await connection.next(RawConnection.Frame.headers) != nil else { continue }
          await connection.send(nonsense.bytes)
          if nonsense.words.hasPrefix("closed") { await connection.close() }
          await connection.end()
          return
        }
      }
      try await Proxied.run(to: server.endpoint) { proxy in
        let datastore = GRPCDatastore(proxy.endpoint, database: database, credentials: .emulatorOwner)
        let failure = await #expect(throws: RPCStatus.self) { try await datastore.lookup([key("c/a")]) }
        #expect(
          failure?.code == .unavailable && failure?.message.contains(nonsense.words) == true,
          "\(String(describing: failure))")
        let told = proxy.events.all.first { $0.kind == .connection && $0.remark?.contains(nonsense.words) == true }
        #expect(told?.remark?.hasPrefix("127.0.0.1:\(server.endpoint.port) ") == true)
        await ended.value
        await datastore.close()
      }
    }
  }

  @Test("A silent server is reported, and its calls are unavailable")
  func silentServer() async throws {
    try await RawServer.run { server in
      try await Proxied.run(to: server.endpoint, serverHandshake: .milliseconds(50)) { proxy in
        let datastore = GRPCDatastore(proxy.endpoint, database: database, credentials: .emulatorOwner)
        let failure = await #expect(throws: RPCStatus.self) { try await datastore.lookup([key("c/a")]) }
        #expect(
          failure?.code == .unavailable && failure?.message.contains("no HTTP/2 settings") == true,
          "\(String(describing: failure))")
        await datastore.close()
      }
    }
  }

  @Test("A server that stops responding within a call makes the call unavailable")
  func silentCall() async throws {
    try await RawServer.run { server in
      let serving = Task {
        for await connection in server.connections {
          await connection.send(RawRequest.settings)
          // Reads everything and never answers, not even a ping.
          for await _ in connection.frames {}
        }
      }
      defer { serving.cancel() }
      try await Proxied.run(to: server.endpoint, silence: .milliseconds(100)) { proxy in
        let datastore = GRPCDatastore(proxy.endpoint, database: database, credentials: .emulatorOwner)
        let failure = await #expect(throws: RPCStatus.self) { try await datastore.lookup([key("c/a")]) }
        #expect(failure?.code == .unavailable && failure?.message.contains("did not answer a ping") == true)
        await datastore.close()
      }
    }
  }

  @Test("Unfinished requests per connection have a limit, and calls above it fail")
  func unfinished() async throws {
    try await Server.run(try LocalBackend.inMemory()) { target in
      try await Proxied.run(to: target) { proxy in
        let part = [UInt8](repeating: 1, count: 16_000)
        var bytes = Self.opening
        for stream in stride(from: UInt32(1), through: 9, by: 2) {
          bytes += RawRequest.headers(RawRequest.call("Commit"), stream: stream)
          bytes += RawRequest.data([0, 0, 0xa0, 0, 0], stream: stream, isLast: false)
          bytes += (0..<600).flatMap { _ in RawRequest.data(part, stream: stream, isLast: false) }
        }
        try await RawRequest.send(bytes, to: proxy.endpoint)
        await proxy.events.wait { $0.kind == .ended && $0.status?.code == .resourceExhausted }
      }
    }
  }

  @Test("An invalid HTTP response becomes a 503 and is reported")
  func garbageOverREST() async throws {
    try await RawServer.run { server in
      let answering = Task {
        for await connection in server.connections {
          await connection.send(Array("this is no HTTP\r\n\r\n".utf8))
          await connection.end()
          return
        }
      }
      try await Proxied.run(to: server.endpoint) { proxy in
        let path = "/v1/\(database.documentsName)/c/a"
        let answer = try await RawHTTP.exchange(
          "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", proxy.endpoint)
        #expect(answer.hasPrefix("HTTP/1.1 503 "))
        #expect(proxy.events.remarks.contains { $0.contains("violated the HTTP protocol:") })
        await answering.value
      }
    }
  }
}
