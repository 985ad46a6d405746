// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import NIOCore
import NIOPosix
import Synchronization

/// A line between a client and a server that can go dead: it stays connected and nothing comes through any more.
final class Proxy: Sendable {
  private let listener: any Channel
  private let isDead: Switch
  private let onward: Channels

  /// - Parameters:
  ///   - destination: where connections lead.
  ///   - port: where it listens; 0 lets the system choose.
  ///   - mostBytes: how many bytes are handed over at a time.
  init(to destination: Endpoint, port: Int = 0, mostBytes: Int = .max) async throws {
    let isDead = Switch()
    let onward = Channels()
    (self.isDead, self.onward) = (isDead, onward)
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { client in
        ClientBootstrap(group: client.eventLoop)
          .channelInitializer { server in
            server.eventLoop.makeCompletedFuture {
              try server.pipeline.syncOperations.addHandler(Forwarder(to: client, isDead: isDead, mostBytes))
            }
          }
          .connect(host: destination.host, port: destination.port)
          .flatMap { server in
            onward.add(server)
            return client.eventLoop.makeCompletedFuture {
              try client.pipeline.syncOperations.addHandler(Forwarder(to: server, isDead: isDead, mostBytes))
            }
            .flatMap { client.setOption(.autoRead, value: true) }
          }
      }
      .bind(host: "127.0.0.1", port: port).get()
  }

  var endpoint: Endpoint {
    Endpoint(host: "127.0.0.1", port: listener.localAddress?.port ?? 0, security: .plaintext)
  }

  /// What is connected stays dead; new connections come through.
  func revive() { isDead.renew() }

  /// From now on bytes vanish, in both directions and on every connection.
  func goDead() { isDead.turnOn() }

  /// As if the server were killed: nobody listens any more, and what is connected is cut off.
  func close() async throws {
    try await listener.close()
    for channel in onward.all { try? await channel.close() }
  }
}

private final class Channels: Sendable {
  private let state = Mutex<[any Channel]>([])
  var all: [any Channel] { state.withLock { $0 } }
  func add(_ channel: any Channel) { state.withLock { $0.append(channel) } }
}

/// Says for each connection whether it is dead.
private final class Switch: Sendable {
  private let state = Mutex(Mutexed())
  private struct Mutexed {
    var dead = 0
    var current = 1
  }

  /// What a connection made now has to ask with.
  var generation: Int { state.withLock { $0.current } }
  func isOn(_ generation: Int) -> Bool { state.withLock { generation <= $0.dead } }
  func turnOn() { state.withLock { $0.dead = $0.current } }
  func renew() { state.withLock { $0.current = $0.dead + 1 } }
}

private final class Forwarder: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let destination: any Channel
  private let mostBytes: Int
  private let generation: Int
  private let isDead: Switch

  init(to destination: any Channel, isDead: Switch, _ mostBytes: Int) {
    (self.destination, self.isDead, self.mostBytes) = (destination, isDead, mostBytes)
    generation = isDead.generation
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDead.isOn(generation) { return }
    var bytes = unwrapInboundIn(data)
    while let part = bytes.readSlice(length: min(mostBytes, bytes.readableBytes)), part.readableBytes > 0 {
      destination.writeAndFlush(part, promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isDead.isOn(generation) { destination.close(promise: nil) }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
