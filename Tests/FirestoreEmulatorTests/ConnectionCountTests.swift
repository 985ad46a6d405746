// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOEmbedded
import ServerTesting
import Testing

@testable import FirestoreEmulator

/// How many connections there may be.
@Suite struct ConnectionCountTests {
  private let loop = EmbeddedEventLoop()

  private func connect(_ handlers: any ChannelHandler...) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(loop: loop)
    try channel.pipeline.syncOperations.addHandlers(handlers)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    return channel
  }

  @Test("A new connection replaces the oldest silent connection; active ones stay open")
  func silent() throws {
    let connections = ServedConnections(on: loop, limit: 3)
    let channels = try (0..<6).map { _ in try connect() }
    let first = try #require(connections.add(channels[0]))
    connections.hear(first)
    #expect(connections.add(channels[1]) != nil && connections.add(channels[2]) != nil)

    let third = try #require(connections.add(channels[3]))
    #expect(!channels[1].isActive && channels[0].isActive && channels[2].isActive)
    connections.hear(third)
    let fourth = try #require(connections.add(channels[4]))
    #expect(!channels[2].isActive)
    connections.hear(fourth)

    #expect(connections.add(channels[5]) == nil)
    #expect([0, 3, 4].allSatisfy { channels[$0].isActive })
    channels[3].close(promise: nil)
    loop.run()
    #expect(connections.add(channels[5]) != nil)
  }

  @Test("10,000 silent connections do not block others")
  func flood() throws {
    let connections = ServedConnections(on: loop, limit: 50)
    for _ in 0..<10_000 { #expect(connections.add(try connect()) != nil) }
    let browser = try connect()
    let number = try #require(connections.add(browser))
    connections.hear(number)
    for _ in 0..<100 { _ = connections.add(try connect()) }
    #expect(browser.isActive)
  }

  @Test("A connection over the limit gets an error in its protocol for any chunk size", arguments: [1, 3, 100])
  func refusal(piece: Int) throws {
    for (request, answer) in [
      ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 503 Service Unavailable\r\n"),
      ("POST /v1 HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 503 Service Unavailable\r\n"),
      ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0", "\0\0\0\u{4}\0\0\0\0\0"),
    ] {
      let channel = try connect(ConnectionRefusalHandler())
      var rest = Substring(request)
      while !rest.isEmpty {
        try channel.receive(String(rest.prefix(piece)))
        rest = rest.dropFirst(piece)
      }
      let text = try channel.sentText()
      #expect(text.hasPrefix(answer), "\(request)")
      #expect(text.contains("too_many_connections") == request.hasPrefix("PRI"))
      loop.advanceTime(by: ConnectionRefusalHandler.patience)
      #expect(!channel.closeFuture.isPending)
    }
  }

  @Test("A connection over the limit that sends nothing is closed without a message")
  func silentRefusal() throws {
    let channel = try connect(ConnectionRefusalHandler())
    loop.advanceTime(by: ConnectionRefusalHandler.patience)
    #expect(!channel.closeFuture.isPending)
    #expect(try channel.sentText() == "")
  }

  @Test("Only a port on a loopback address counts as local")
  func loopback() throws {
    for host in ["127.0.0.1", "127.3.2.1", "::1"] {
      #expect(try EmulatorServer.Configuration(host: host, port: 0).isLoopback)
    }
    for host in ["0.0.0.0", "::", "10.1.2.3"] {
      #expect(try !EmulatorServer.Configuration(host: host, port: 0).isLoopback)
    }
  }
}
