// SPDX-License-Identifier: Apache-2.0
package import FirestoreServer
package import FirestoreService
import NIOCore
package import NIOEmbedded
package import NIOHPACK

/// A client's connection to a server, both in the test, with the client's frames made by hand.
package final class TestConnection {
  /// A frame that a client sends on a stream.
  package enum Part {
    case headers(HPACKHeaders, isLast: Bool = false)
    case data([UInt8], isLast: Bool = true)
    case reset
  }

  package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  package let channel: EmbeddedChannel
  package let loop: EmbeddedEventLoop
  package let budget: ConnectionBudget
  private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
  private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
  private var received = ByteBuffer()

  /// - Parameters:
  ///   - loop: that of the pipeline.
  ///   - window: the bytes that the client takes on a stream; the connection has room for much more.
  package init(_ pipeline: CallPipeline, on loop: EmbeddedEventLoop, window: Int = 1 << 20) throws {
    self.loop = loop
    channel = EmbeddedChannel(loop: loop)
    let connection = pipeline.connection(on: loop)
    budget = connection.budget
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    try pipeline.configure(channel, connection)
    let setting: [UInt8] = [0, 4] + TestFrame.bigEndian(UInt32(window))
    try send(Self.preface + TestFrame.bytes(.settings, setting))
    try widen(stream: 0, by: 1 << 30)
    _ = try frames()
  }

  package func send(_ bytes: [UInt8]) throws { try channel.writeInbound(ByteBuffer(bytes: bytes)) }

  package func send(_ stream: Int, _ parts: Part...) throws {
    for part in parts {
      switch part {
      case .headers(let headers, let isLast):
        var block = ByteBuffer()
        try encoder.encode(headers: headers, to: &block)
        try send(TestFrame.bytes(.headers, flags: isLast ? 5 : 4, stream: stream, block.readableBytesView))
      case .data(let bytes, let isLast):
        var rest = bytes[...]
        repeat {
          let piece = rest.prefix(16_384)
          rest = rest.dropFirst(piece.count)
          try send(TestFrame.bytes(.data, flags: isLast && rest.isEmpty ? 1 : 0, stream: stream, piece))
        } while !rest.isEmpty
      case .reset: try send(TestFrame.bytes(.reset, stream: stream, [0, 0, 0, 8]))
      }
    }
  }

  /// Lets the server send so many bytes more.
  package func widen(stream: Int, by bytes: Int) throws {
    try send(TestFrame.bytes(.window, stream: stream, TestFrame.bigEndian(UInt32(bytes))))
  }

  /// The frames that the server has sent, without its settings and window updates, at the next turn of its thread.
  package func frames() throws -> [TestFrame] {
    loop.run()
    while var bytes = try channel.readOutbound(as: ByteBuffer.self) { received.writeBuffer(&bytes) }
    return try TestFrame.take(from: &received, &decoder).filter { $0.kind != .settings && $0.kind != .window }
  }

  /// What each frame says that the server has sent.
  package func summaries() throws -> [String] { try frames().map(\.summary) }

  /// The server shuts down.
  package func quiesce() { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }

  /// Whether the system takes what the server sends.
  package func setWritable(_ isWritable: Bool) {
    channel.isWritable = isWritable
    channel.pipeline.fireChannelWritabilityChanged()
  }
}

extension CallPipeline {
  /// A pipeline with everything of its own.
  package init(
    _ service: FirestoreService, on loop: EmbeddedEventLoop, _ limits: ConnectionLimits = .loopback,
    total: Int = 1 << 30, _ others: (any OtherCalls)? = nil
  ) {
    self.init(service, DeliverySlice(loop), limits, ServerBudget(on: loop, limit: total), others)
  }
}

extension ConnectionBudget {
  package convenience init(on loop: EmbeddedEventLoop) {
    let limits = ConnectionLimits(
      streams: 10, windowBytes: 65_535, requestBytes: 1 << 20, responseBytes: 1 << 20, windowUpdates: 100)
    self.init(limits, ServerBudget(on: loop, limit: 1 << 30), on: loop)
  }
}

extension HPACKHeaders {
  package static func call(_ method: String) -> HPACKHeaders {
    [
      ":method": "POST", ":scheme": "http", ":path": "/google.firestore.v1.Firestore/\(method)",
      ":authority": "localhost", "content-type": "application/grpc",
    ]
  }

  /// One field a line.
  package var lines: [String] { map { "\($0.name): \($0.value)" } }
}
