// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP server on the loopback device that grants tokens, each with a number of its own.
final class TokenServer: Sendable {
  struct Request: Sendable {
    var head: HTTPRequestHead
    var body: String
  }

  private let listener: any Channel
  private let state: State

  /// - Parameter answer: status and body for the n-th request, counted from 1.
  init(answer: @escaping @Sendable (Int) -> (HTTPResponseStatus, String)) async throws {
    let state = State()
    self.state = state
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(NIOHTTPServerRequestAggregator(maxContentLength: 1 << 16))
          try channel.pipeline.syncOperations.addHandler(Handler(state: state, answer: answer))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  var port: Int { listener.localAddress?.port ?? 0 }
  var requests: [Request] { state.requests.withLock { $0 } }
  func close() async throws { try await listener.close() }

  final class State: Sendable {
    let requests = Mutex<[Request]>([])
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPServerRequestFull
    typealias OutboundOut = HTTPServerResponsePart

    private let state: State
    private let answer: @Sendable (Int) -> (HTTPResponseStatus, String)

    init(state: State, answer: @escaping @Sendable (Int) -> (HTTPResponseStatus, String)) {
      (self.state, self.answer) = (state, answer)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let request = unwrapInboundIn(data)
      let body = request.body.map { String(buffer: $0) } ?? ""
      let number = state.requests.withLock { requests in
        requests.append(Request(head: request.head, body: body))
        return requests.count
      }
      let (status, text) = answer(number)
      let headers: HTTPHeaders = ["content-length": String(text.utf8.count), "content-type": "application/json"]
      context.write(
        wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}
