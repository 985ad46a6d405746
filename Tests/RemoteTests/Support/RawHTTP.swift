// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import Foundation
import NIOCore
import NIOPosix

/// HTTP/1 byte by byte.
enum RawHTTP {
  /// What the server says to some bytes until it closes the connection.
  static func exchange(_ text: String, _ endpoint: FirestoreGRPC.Endpoint) async throws -> String {
    let (pieces, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Collector(continuation))
        }
      }
      .connect(host: endpoint.host, port: endpoint.port).get()
    try await channel.writeAndFlush(ByteBuffer(string: text))
    var said = ByteBuffer()
    for await var piece in pieces { said.writeBuffer(&piece) }
    return String(buffer: said)
  }

  /// The bodies of answers, chunks put together.
  static func bodies(_ answers: String) -> [String] {
    answers.components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst().map { answer in
      let parts = answer.components(separatedBy: "\r\n\r\n")
      let body = parts.dropFirst().joined(separator: "\r\n\r\n")
      guard parts[0].lowercased().contains("transfer-encoding: chunked") else { return body }
      var (text, rest) = ("", Array(body.utf8)[...])
      while let end = rest.firstIndex(of: 0x0D),
        let count = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16), count > 0
      {
        let start = end + 2
        text += String(decoding: rest[start..<(start + count)], as: UTF8.self)
        rest = rest[(start + count + 2)...]
      }
      return text
    }
  }
}

private final class Collector: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let continuation: AsyncStream<ByteBuffer>.Continuation

  init(_ continuation: AsyncStream<ByteBuffer>.Continuation) { self.continuation = continuation }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { continuation.yield(unwrapInboundIn(data)) }

  func channelInactive(context: ChannelHandlerContext) { continuation.finish() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
