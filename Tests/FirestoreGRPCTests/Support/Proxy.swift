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

  /// - Parameter destination: where connections lead.
  init(to destination: Endpoint) async throws {
    let isDead = Switch()
    let onward = Channels()
    (self.isDead, self.onward) = (isDead, onward)
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { client in
        ClientBootstrap(group: client.eventLoop)
          .channelInitializer { server in
            server.eventLoop.makeCompletedFuture {
              try server.pipeline.syncOperations.addHandler(Forwarder(to: client, isDead: isDead))
            }
          }
          .connect(host: destination.host, port: destination.port)
          .flatMap { server in
            onward.add(server)
            return client.eventLoop.makeCompletedFuture {
              try client.pipeline.syncOperations.addHandler(Forwarder(to: server, isDead: isDead))
            }
            .flatMap { client.setOption(.autoRead, value: true) }
          }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  var endpoint: Endpoint {
    Endpoint(host: "127.0.0.1", port: listener.localAddress?.port ?? 0, security: .plaintext)
  }

  /// From now on bytes vanish, in both directions and on every connection.
  func goDead() { isDead.turnOn() }

  func close() async throws {
    try await listener.close()
    for channel in onward.all { channel.close(promise: nil) }
  }
}

private final class Channels: Sendable {
  private let state = Mutex<[any Channel]>([])
  var all: [any Channel] { state.withLock { $0 } }
  func add(_ channel: any Channel) { state.withLock { $0.append(channel) } }
}

private final class Switch: Sendable {
  private let state = Mutex(false)
  var isOn: Bool { state.withLock { $0 } }
  func turnOn() { state.withLock { $0 = true } }
}

private final class Forwarder: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let destination: any Channel
  private let isDead: Switch

  init(to destination: any Channel, isDead: Switch) {
    (self.destination, self.isDead) = (destination, isDead)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDead.isOn { return }
    destination.writeAndFlush(unwrapInboundIn(data), promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isDead.isOn { destination.close(promise: nil) }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
