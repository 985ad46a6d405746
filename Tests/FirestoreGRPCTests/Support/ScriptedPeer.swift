// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import Synchronization

/// A peer of HTTP/2 that answers each call with the frames it was told to, right or wrong.
final class ScriptedPeer: Sendable {
  /// - Parameters:
  ///   - call: the number of the call, over all connections, from 0 on.
  ///   - stream: on which it came.
  typealias Script = @Sendable (_ call: Int, _ stream: HTTP2StreamID) -> [HTTP2Frame]

  let connections = Atomic(0)
  /// Calls that the other side broke off.
  let resets = Atomic(0)
  private let calls = Atomic(0)
  private let script: Script

  private init(_ script: @escaping Script) { self.script = script }

  /// Listens on the loopback device while `body` runs.
  static func run(
    _ script: @escaping Script, _ body: (Endpoint, ScriptedPeer) async throws -> Void
  ) async throws {
    let peer = ScriptedPeer(script)
    let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        peer.connections.add(1, ordering: .relaxed)
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(NIOHTTP2Handler(mode: .server), Answers(peer))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    try await body(
      Endpoint(host: "127.0.0.1", port: listener.localAddress?.port ?? 0, security: .plaintext), peer)
    try await listener.close()
  }

  private final class Answers: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame
    private let peer: ScriptedPeer

    init(_ peer: ScriptedPeer) { self.peer = peer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let frame = unwrapInboundIn(data)
      if case .rstStream = frame.payload { peer.resets.add(1, ordering: .relaxed) }
      guard case .headers = frame.payload else { return }
      let call = peer.calls.add(1, ordering: .relaxed).oldValue
      for answer in peer.script(call, frame.streamID) { context.write(wrapOutboundOut(answer), promise: nil) }
      context.flush()
    }
  }
}

extension HTTP2Frame {
  static func headers(_ stream: HTTP2StreamID, _ headers: HPACKHeaders, isLast: Bool = false) -> HTTP2Frame {
    HTTP2Frame(streamID: stream, payload: .headers(.init(headers: headers, endStream: isLast)))
  }

  static func begin(_ stream: HTTP2StreamID) -> HTTP2Frame {
    headers(stream, [":status": "200", "content-type": "application/grpc"])
  }

  static func end(_ stream: HTTP2StreamID, _ code: Int = 0, _ message: String = "") -> HTTP2Frame {
    headers(stream, ["grpc-status": "\(code)", "grpc-message": message], isLast: true)
  }

  static func data(_ stream: HTTP2StreamID, _ bytes: [UInt8], isLast: Bool = false) -> HTTP2Frame {
    HTTP2Frame(
      streamID: stream, payload: .data(.init(data: .byteBuffer(ByteBuffer(bytes: bytes)), endStream: isLast)))
  }

  static func reset(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) -> HTTP2Frame {
    HTTP2Frame(streamID: stream, payload: .rstStream(code))
  }

  static func goAway(after stream: HTTP2StreamID) -> HTTP2Frame {
    HTTP2Frame(
      streamID: .rootStream, payload: .goAway(lastStreamID: stream, errorCode: .noError, opaqueData: nil))
  }
}
