// SPDX-License-Identifier: Apache-2.0
package import FirestoreGRPC
package import NIOCore
import NIOPosix
import Synchronization

/// A line between a client and a server that can go dead or mute: it stays connected, and nothing comes through any
/// more, or nothing of what the server says.
package final class Proxy: Sendable {
  private let listener: any Channel
  private let isDead: Switch
  private let isMute: Switch
  private let onward: Channels

  /// - Parameters:
  ///   - destination: where connections lead.
  ///   - port: where it listens; 0 lets the system choose.
  ///   - mostBytes: how many bytes are handed over at a time.
  ///   - delay: how much later what one side says comes to the other.
  package init(
    to destination: Endpoint, port: Int = 0, mostBytes: Int = .max, delay: TimeAmount = .zero
  ) async throws {
    let (isDead, isMute) = (Switch(), Switch())
    let onward = Channels()
    (self.isDead, self.isMute, self.onward) = (isDead, isMute, onward)
    let pace = Forwarder.Pace(mostBytes: mostBytes, delay: delay)
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { client in
        ClientBootstrap(group: client.eventLoop)
          .channelInitializer { server in
            server.eventLoop.makeCompletedFuture {
              try server.pipeline.syncOperations.addHandler(Forwarder(to: client, isDead, isMute, pace))
            }
          }
          .connect(host: destination.host, port: destination.port)
          .flatMap { server in
            onward.add(server)
            return client.eventLoop.makeCompletedFuture {
              try client.pipeline.syncOperations.addHandler(Forwarder(to: server, isDead, nil, pace))
            }
            .flatMap { client.setOption(.autoRead, value: true) }
          }
      }
      .bind(host: "127.0.0.1", port: port).get()
  }

  package var endpoint: Endpoint {
    Endpoint(host: "127.0.0.1", port: listener.localAddress?.port ?? 0, security: .plaintext)
  }

  /// What is connected stays dead; new connections come through.
  package func revive() { isDead.renew() }

  /// From now on bytes vanish, in both directions and on every connection.
  package func goDead() { isDead.turnOn() }

  /// From now on what the server says vanishes, on every connection that there is.
  package func goMute() { isMute.turnOn() }

  /// As if the server were killed: nobody listens any more, and what is connected is cut off.
  package func close() async throws {
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
  private let state = Mutex(Generations())
  private struct Generations {
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

  struct Pace {
    var mostBytes: Int
    var delay: TimeAmount
  }

  private let destination: any Channel
  private let pace: Pace
  private let death: (Switch, generation: Int)
  private let muting: (Switch, generation: Int)?

  init(to destination: any Channel, _ isDead: Switch, _ isMute: Switch?, _ pace: Pace) {
    (self.destination, self.pace) = (destination, pace)
    death = (isDead, isDead.generation)
    muting = isMute.map { ($0, $0.generation) }
  }

  private var isDead: Bool { death.0.isOn(death.generation) }
  private var isMute: Bool { muting.map { $0.0.isOn($0.generation) } ?? false }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDead || isMute { return }
    var bytes = unwrapInboundIn(data)
    while let part = bytes.readSlice(length: min(pace.mostBytes, bytes.readableBytes)), part.readableBytes > 0 {
      if pace.delay == .zero {
        destination.writeAndFlush(part, promise: nil)
      } else {
        let destination = destination
        context.eventLoop.scheduleTask(in: pace.delay) { destination.writeAndFlush(part, promise: nil) }
      }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isDead {
      let destination = destination
      // After what is still under way.
      context.eventLoop.scheduleTask(in: pace.delay) { destination.close(promise: nil) }
    }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
