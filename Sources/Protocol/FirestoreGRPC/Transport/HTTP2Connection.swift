// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import Synchronization
import TransportSecurity

/// One HTTP/2 connection to a backend that has greeted:
/// ```
/// bytes ─► (TLS) ─► SignsOfLife ─► NIOHTTP2Handler ─► ConnectionHandler
/// a channel per call ─► ResponseHandler
/// ```
///
/// Reasons for this transport beside grpc-swift's, which was used before:
/// - A call that was opened on a connection just as it broke never ended there, neither by cancellation nor by its
///   deadline. Here each call ends with its answer, its caller's task, its deadline or its connection
///   (`ResponseInbox.end`), and a silent connection ends by `ConnectionHandler`.
/// - A release build of `hearth` from nothing, together with `TransportSecurity`, went from 970 to 523 seconds of
///   processor time and from 929 to 116 steps, the stripped, dynamically linked program from 37 to 25 MB.
///
/// It does what a client of Firestore needs: calls with one request or many, deadlines, trailers, flow control to the
/// reader, word of a call that the peer has not looked at. Compression, load balancing, retries by policy and
/// interceptors are left out. The tests speak with grpc-swift's server (`Tests/FirestoreGRPCTests`).
///
/// Reasons to return: grpc-swift's transport ends every call on a connection that breaks, and adds less than 100
/// seconds of processor time to the build; or more of gRPC is needed than that.
final class HTTP2Connection: Sendable {
  fileprivate let channel: any Channel
  private let streams: NIOHTTP2Handler.StreamMultiplexer
  private let handler: NIOLoopBound<ConnectionHandler>

  private init(
    _ channel: any Channel, _ streams: NIOHTTP2Handler.StreamMultiplexer, _ handler: NIOLoopBound<ConnectionHandler>
  ) {
    self.channel = channel
    self.streams = streams
    self.handler = handler
  }

  /// Opens a connection.
  /// - Parameters:
  ///   - tls: the TLS context; `nil` for plain text.
  ///   - onRetirement: called when no more calls may begin on the connection.
  /// - Returns: a connection that has greeted, or a failure with `TransportFailure`.
  static func open(
    to endpoint: Endpoint, tls: TLSContext?, _ keepalive: Connection.Keepalive, on loop: any EventLoop,
    onRetirement: @escaping @Sendable () -> Void
  ) -> EventLoopFuture<HTTP2Connection> {
    // A host with several addresses may have several channels set up; one of them connects.
    let setUp = SetUpConnections()
    let bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(TimeAmount(keepalive.timeout))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          let signs = SignsOfLife()
          try pipeline.addHandler(signs)
          if let tls { try pipeline.addHandler(tls.clientHandler(for: TLSContext.Peer(endpoint.host))) }
          let http2 = NIOHTTP2Handler(
            mode: .client, eventLoop: channel.eventLoop, connectionConfiguration: configuration,
            streamConfiguration: streamConfiguration
          ) { $0.close() }
          let handler = ConnectionHandler(signs, keepalive, on: channel.eventLoop)
          try pipeline.addHandlers(http2, handler)
          let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
          setUp.add(HTTP2Connection(channel, try http2.syncMultiplexer(), bound))
        }
      }
    return bootstrap.connect(to: endpoint)
      .flatMapErrorThrowing { throw TransportFailure.unconnected($0) }
      .flatMap { channel in
        guard let connection = setUp[channel] else {
          return channel.eventLoop.makeFailedFuture(TransportFailure.cut(hasGreeted: false))
        }
        return connection.handler.value.greeting(onRetirement: onRetirement).map { connection }
      }
  }

  /// Begins a call.
  /// - Parameters:
  ///   - message: the whole request; `nil` for a request that is sent piece by piece.
  ///   - timeout: the time after which the call fails.
  /// - Returns: the call; it fails with `TransportFailure.notTaken` if the connection takes no more.
  func call(_ headers: HPACKHeaders, _ message: [UInt8]?, timeout: TimeAmount?) -> EventLoopFuture<CallStream> {
    let (inbox, streams, handler) = (ResponseInbox(), streams, handler)
    return channel.eventLoop.flatSubmit { [channel] in
      if handler.value.isRetired { return channel.eventLoop.makeFailedFuture(TransportFailure.notTaken) }
      let promise = channel.eventLoop.makePromise(of: (any Channel).self)
      streams.createStreamChannel(promise: promise) { stream in
        stream.eventLoop.makeCompletedFuture {
          try stream.pipeline.syncOperations.addHandler(
            ResponseHandler(inbox, on: handler.value, timeout: timeout))
        }
      }
      // The peer has not looked at a call that has not begun.
      return promise.futureResult.flatMapErrorThrowing { _ in throw TransportFailure.notTaken }.map { stream in
        stream.write(HTTP2Frame.FramePayload.headers(.init(headers: headers)), promise: nil)
        if let message { stream.write(CallStream.data(message, isLast: true), promise: nil) }
        stream.flush()
        return CallStream(stream, inbox)
      }
    }
  }

  /// Refuses new calls, and closes with the last one.
  func retire() { channel.eventLoop.execute { [handler] in handler.value.retire() } }

  var closed: EventLoopFuture<Void> { channel.closeFuture }

  /// Closes the connection and ends all its calls.
  func close() -> EventLoopFuture<Void> {
    channel.close(promise: nil)
    return channel.closeFuture
  }

  private static var configuration: NIOHTTP2Handler.ConnectionConfiguration {
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.initialSettings = [
      HTTP2Setting(parameter: .enablePush, value: 0),
      HTTP2Setting(parameter: .initialWindowSize, value: streamConfiguration.targetWindowSize),
      HTTP2Setting(parameter: .maxHeaderListSize, value: 64 << 10),
    ]
    configuration.targetWindowSize = 2 * streamConfiguration.targetWindowSize
    configuration.controlFrameRateLimit.maximumCount = ConnectionHandler.mostControlFrames
    return configuration
  }

  private static var streamConfiguration: NIOHTTP2Handler.StreamConfiguration {
    var configuration = NIOHTTP2Handler.StreamConfiguration()
    configuration.targetWindowSize = 4 << 20
    configuration.streamResetFrameRateLimit.maximumCount = ConnectionHandler.mostControlFrames
    configuration.streamErrorRateLimit.maximumCount = ConnectionHandler.mostControlFrames
    return configuration
  }
}

/// The connections of the channels that were set up for one attempt.
private final class SetUpConnections: Sendable {
  private let connections = Mutex<[ObjectIdentifier: HTTP2Connection]>([:])

  func add(_ connection: HTTP2Connection) {
    connections.withLock { $0[ObjectIdentifier(connection.channel)] = connection }
  }

  subscript(channel: any Channel) -> HTTP2Connection? { connections.withLock { $0[ObjectIdentifier(channel)] } }
}

extension ClientBootstrap {
  fileprivate func connect(to endpoint: Endpoint) -> EventLoopFuture<any Channel> {
    if let socket = endpoint.socket { return connect(unixDomainSocketPath: socket) }
    // A literal address needs no look-up.
    if let address = try? SocketAddress(ipAddress: endpoint.host, port: endpoint.port) { return connect(to: address) }
    return connect(host: endpoint.host, port: endpoint.port)
  }
}

extension TLSContext.Peer {
  /// Reads a host.
  /// - Parameter host: a name, or a literal address.
  init(_ host: String) {
    self = (try? SocketAddress(ipAddress: host, port: 0)) == nil ? .host(host) : .address(host)
  }
}
