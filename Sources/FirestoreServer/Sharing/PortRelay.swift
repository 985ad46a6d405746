// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOPosix
import TransportSecurity

/// A port whose connections lead to the process that has the data, over the data's socket: each byte goes on as it
/// comes, and no faster than the other side takes it.
package struct PortRelay: Sendable {
  private let configuration: FirestoreServer.Configuration
  private let socket: String

  /// - Parameter socket: the path of the data's socket, at most 107 bytes long.
  package init(_ configuration: FirestoreServer.Configuration, to socket: String) {
    self.configuration = configuration
    self.socket = socket
  }

  /// Relays until cancelled, or until `ended` returns. Connections end with it.
  /// - Parameter ready: called with the bound port once connections are accepted.
  /// - Throws: `RPCStatus` that says why the address cannot be listened on.
  package func run(until ended: @Sendable () async -> Void, ready: @Sendable (Int) -> Void) async throws {
    let loop = FirestoreServer.loops.next()
    let connections = ServedConnections(on: loop, limit: configuration.connections)
    let (socket, isLoopback) = (socket, try loopback())
    let tls = try configuration.tls?.context()
    let listener = try await configuration.listen(on: loop) { channel in
      do {
        if let tls { try channel.pipeline.syncOperations.addHandler(tls.serverHandler()) }
        guard let number = connections.add(channel) else {
          try channel.pipeline.syncOperations.addHandler(ConnectionRefusalHandler())
          return channel.eventLoop.makeSucceededVoidFuture()
        }
        // Whether it says anything is seen at the other end.
        connections.hear(number)
        let (near, far) = RelayHandler.pair()
        try channel.pipeline.syncOperations.addHandler(near)
        let bound = NIOLoopBound(far, eventLoop: channel.eventLoop)
        return ClientBootstrap(group: loop)
          .channelInitializer { far in
            far.eventLoop.makeCompletedFuture { try far.pipeline.syncOperations.addHandler(bound.value) }
          }
          .connect(unixDomainSocketPath: socket)
          .flatMap { far in
            if isLoopback { return far.eventLoop.makeSucceededVoidFuture() }
            return far.writeAndFlush(ByteBuffer(bytes: [SocketGreetingHandler.relayed]))
          }
      } catch { return channel.eventLoop.makeFailedFuture(error) }
    }
    await connections.accept(from: listener)
    ready(listener.localAddress?.port ?? configuration.port)
    await ended()
    try? await listener.close()
    await connections.close()
  }

  private func loopback() throws -> Bool {
    do { return try configuration.isLoopback } catch { throw configuration.explain(error) }
  }
}

/// One end of a relayed connection. What is read here is written there; nothing is read while it cannot be written.
final class RelayHandler: ChannelDuplexHandler {
  typealias InboundIn = NIOAny
  typealias OutboundIn = NIOAny
  typealias OutboundOut = NIOAny

  private var partner: RelayHandler?
  private var context: ChannelHandlerContext?
  private var hasPendingRead = false

  static func pair() -> (RelayHandler, RelayHandler) {
    let (near, far) = (RelayHandler(), RelayHandler())
    (near.partner, far.partner) = (far, near)
    return (near, far)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { partner?.becameWritable() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    partner = nil
  }

  func channelActive(context: ChannelHandlerContext) {
    partner?.becameWritable()
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    partner?.context?.write(data, promise: nil)
  }

  func channelReadComplete(context: ChannelHandlerContext) { partner?.context?.flush() }

  func channelInactive(context: ChannelHandlerContext) {
    partner?.context?.close(promise: nil)
    partner = nil
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { partner?.becameWritable() }
    context.fireChannelWritabilityChanged()
  }

  func read(context: ChannelHandlerContext) {
    if let other = partner?.context, other.channel.isActive, other.channel.isWritable {
      context.read()
    } else {
      hasPendingRead = true
    }
  }

  private func becameWritable() {
    guard hasPendingRead, let context else { return }
    hasPendingRead = false
    context.read()
  }
}
