// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import NIOCore
import NIOPosix

/// A server that says what the test has it say, byte by byte, and shows each frame of HTTP/2 that it gets.
struct RawServer: Sendable {
  struct Connection: Sendable {
    /// The frames behind the preface.
    let frames: AsyncStream<RawConnection.Frame>
    fileprivate let channel: any Channel

    /// Sends as much as the client still takes.
    func send(_ bytes: [UInt8]) async { try? await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }
    /// Ends the output and reads on: a close with unread frames would reset the connection.
    func close() async { try? await channel.close(mode: .output) }
    /// Waits until the client has closed.
    func end() async { try? await channel.closeFuture.get() }

    /// The next frame of a kind.
    func next(_ type: UInt8) async -> RawConnection.Frame? {
      for await frame in frames where frame.type == type { return frame }
      return nil
    }
  }

  let endpoint: FirestoreGRPC.Endpoint
  let connections: AsyncStream<Connection>
  private let listener: any Channel

  private init(_ listener: any Channel, _ connections: AsyncStream<Connection>) {
    (self.listener, self.connections) = (listener, connections)
    endpoint = FirestoreGRPC.Endpoint(
      host: "127.0.0.1", port: listener.localAddress?.port ?? 0, security: .plaintext)
  }

  /// Serves while `body` runs.
  static func run(_ body: (RawServer) async throws -> Void) async throws {
    let (connections, continuation) = AsyncStream.makeStream(of: Connection.self)
    let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let (frames, reader) = AsyncStream.makeStream(of: RawConnection.Frame.self)
          try channel.pipeline.syncOperations.addHandler(FrameReader(reader, preface: RawRequest.preface.count))
          continuation.yield(Connection(frames: frames, channel: channel))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let result = await Result { try await body(RawServer(listener, connections)) }
    continuation.finish()
    try await listener.close()
    try result.get()
  }
}
