// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import NIOCore
import NIOPosix
import Testing

/// The message for a user who got an address, a port or a key wrong: one line that says what and how to mend it.
@Suite("Connection failures", .timeLimit(.minutes(10)))
struct FailureTests {
  private func failure(at endpoint: Endpoint) async throws -> RPCStatus {
    let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
    let status = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
    await datastore.close()
    let failure = try #require(status)
    #expect(!failure.message.contains { $0.isNewline })
    #expect(failure.message.contains(endpoint.text))
    #expect(failure.message.utf8.count < 300, "\(failure.message)")
    return failure
  }

  private func listener(
    _ setUp: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) async throws -> (any Channel, port: Int) {
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer(setUp).bind(host: "127.0.0.1", port: 0).get()
    return (channel, try #require(channel.localAddress?.port))
  }

  @Test("A port without a listener is reported with advice")
  func refused() async throws {
    let reserved = try ReservedPort()
    let status = try await failure(at: Endpoint(host: "127.0.0.1", port: reserved.number, security: .plaintext))
    withExtendedLifetime(reserved) {}
    #expect(status.code == .unavailable)
    #expect(status.message.contains("refuses"))
    #expect(status.message.contains("port"))
  }

  @Test("The error for a host that does not exist names the host")
  func unknownHost() async throws {
    let status = try await failure(at: Endpoint(host: "no-such-host.invalid", port: 443, security: .plaintext))
    #expect(status.code == .unavailable)
    #expect(status.message.contains("an unknown host"))
  }

  #if HEARTH_ORACLES
    @Test("TLS to a plain-text port is reported")
    func tlsToPlaintext() async throws {
      try await ScriptedServer().run { endpoint in
        let status = try await failure(
          at: Endpoint(host: "127.0.0.1", port: endpoint.port, security: .tls(trustRoots: nil)))
        #expect(status.code == .unavailable)
        #expect(status.message.contains("TLS"), "\(status.message)")
      }
    }
  #endif

  @Test("A server that expects TLS and closes the connection is reported")
  func plaintextToTLS() async throws {
    // The answer of a TLS server to what is not TLS: an alert, and the end.
    let (channel, port) = try await listener { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(AlertHandler())
      }
    }
    let status = try await failure(at: Endpoint(host: "127.0.0.1", port: port, security: .plaintext))
    #expect(status.code == .unavailable)
    #expect(status.message.contains("TLS"), "\(status.message)")
    try await channel.close()
  }

  @Test("A connection closed during setup is not reported as another protocol")
  func cut() async throws {
    let (channel, port) = try await listener { $0.close() }
    let status = try await failure(at: Endpoint(host: "127.0.0.1", port: port, security: .plaintext))
    #expect(status.code == .unavailable)
    #expect(status.message.contains("closed the connection"), "\(status.message)")
    #expect(!status.message.contains("does not speak"))
    try await channel.close()
  }

  @Test("A silent server fails the connection")
  func silence() async throws {
    let (channel, port) = try await listener { $0.eventLoop.makeSucceededVoidFuture() }
    let endpoint = Endpoint(host: "127.0.0.1", port: port, security: .plaintext)
    let datastore = GRPCDatastore(
      endpoint, database: Samples.database, credentials: .emulatorOwner,
      keepalive: (time: .seconds(30), timeout: .milliseconds(50)))
    let status = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
    #expect(status?.code == .unavailable)
    await datastore.close()
    try await channel.close()
  }

  @Test("A server with another protocol is reported")
  func notHTTP2() async throws {
    let (channel, port) = try await listener { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(
          AlertHandler(answer: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)))
      }
    }
    let status = try await failure(at: Endpoint(host: "127.0.0.1", port: port, security: .plaintext))
    #expect(status.code == .unavailable)
    #expect(status.message.contains("gRPC"), "\(status.message)")
    try await channel.close()
  }

  @Test("A proxy that answers with plain HTTP is unavailable, and its answer is quoted")
  func httpAnswer() async throws {
    let (channel, port) = try await listener { channel in
      channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(NotFoundHandler()) }
    }
    let status = try await failure(at: Endpoint(host: "127.0.0.1", port: port, security: .plaintext))
    #expect(status.code == .unavailable)
    #expect(status.message.contains("404") && status.message.contains("proxy"), "\(status.message)")
    try await channel.close()
  }
}

/// Answers the first request of an HTTP/2 connection with status 404.
private final class NotFoundHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private var received: [UInt8] = []
  private var position = 24
  private var hasGreeted = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += Array(buffer: unwrapInboundIn(data))
    if !hasGreeted, received.count >= position {
      hasGreeted = true
      // SETTINGS, and the acknowledgement of the client's.
      send([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0], context)
    }
    while received.count >= position + 9 {
      let length = received[position..<position + 3].reduce(0) { $0 << 8 | Int($1) }
      guard received.count >= position + 9 + length else { return }
      // HEADERS of stream 1; the answer's only field is in the static table.
      if received[position + 3] == 1 { send([0, 0, 1, 1, 5, 0, 0, 0, 1, 0x8d], context) }
      position += 9 + length
    }
  }

  private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
  }
}

private final class AlertHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private let answer: [UInt8]

  /// Answers with a fatal TLS alert by default: unexpected message.
  init(answer: [UInt8] = [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x0a]) { self.answer = answer }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let context = context
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
    context.close(promise: nil)
  }
}
