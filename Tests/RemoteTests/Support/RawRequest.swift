// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import NIOCore
import NIOPosix

/// HTTP/2 as bytes, made by hand: what no library would send can be sent too.
struct RawRequest {
  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// - Parameter length: what the frame says its length is.
  static func frame(
    _ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, length: Int? = nil, _ payload: [UInt8] = []
  ) -> [UInt8] {
    let length = UInt32(truncatingIfNeeded: length ?? payload.count)
    let head = [length >> 16, length >> 8, length].map { UInt8(truncatingIfNeeded: $0) }
    return head + [type, flags] + withUnsafeBytes(of: stream.bigEndian) { Array($0) } + payload
  }

  static let settings = frame(4)

  /// Literals that are neither indexed nor compressed.
  static func headers(_ fields: [(String, String)], stream: UInt32 = 1, isLast: Bool = false) -> [UInt8] {
    var block: [UInt8] = []
    for (name, value) in fields {
      block.append(0)
      for text in [name, value] {
        block.append(UInt8(min(text.utf8.count, 126)))
        block += text.utf8.prefix(126)
      }
    }
    return frame(1, flags: isLast ? 5 : 4, stream: stream, block)
  }

  static func data(_ bytes: [UInt8], stream: UInt32 = 1, isLast: Bool = true) -> [UInt8] {
    frame(0, flags: isLast ? 1 : 0, stream: stream, bytes)
  }

  static func call(_ method: String) -> [(String, String)] {
    [
      (":method", "POST"), (":scheme", "http"), (":path", "/google.firestore.v1.Firestore/\(method)"),
      (":authority", "localhost"), ("content-type", "application/grpc"), ("te", "trailers"),
      ("authorization", "Bearer owner"),
    ]
  }

  /// An answer without a message.
  static func answer(_ status: Int, stream: UInt32) -> [UInt8] {
    let fields = [(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "\(status)")]
    return headers(fields, stream: stream, isLast: true)
  }

  /// gRPC's prefix and the message.
  static func message(_ bytes: [UInt8], flag: UInt8 = 0, length: UInt32? = nil) -> [UInt8] {
    [flag] + withUnsafeBytes(of: (length ?? UInt32(bytes.count)).bigEndian) { Array($0) } + bytes
  }

  /// Sends the bytes on a connection of their own, says that this was all, and waits for the server to close.
  static func send(_ bytes: [UInt8], to endpoint: Endpoint) async throws {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Quiet()) }
      }
      .connect(host: endpoint.host, port: endpoint.port).get()
    // The server may have had enough before it has read all.
    channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    channel.close(mode: .output, promise: nil)
    try? await channel.closeFuture.get()
  }
}

/// Takes what the server says, and a connection that it breaks off, without a word.
private final class Quiet: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
