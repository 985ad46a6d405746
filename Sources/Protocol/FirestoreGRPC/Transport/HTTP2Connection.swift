// SPDX-License-Identifier: Apache-2.0
import HTTP2Frames
import NIOCore
import NIOPosix
import Synchronization
import TransportSecurity

/// One HTTP/2 connection to a backend, which has already sent its settings:
/// ```
/// bytes ─► (TLS) ─► FrameConnection ─┬─ the connection ──► CallConnection
///                                    └─ each call ───────► ResponseStream ─► ResponseInbox ─► CallStream
/// ```
///
/// The reasons for using this transport in place of grpc-swift's, which Hearth used before:
/// - In grpc-swift, if a call was opened just as its connection broke, neither cancellation nor its deadline ended the
///   call. Here each call ends with its response, its caller's task, its deadline or its connection
///   (`ResponseInbox.end`). `CallConnection` ends a silent connection.
/// - Together with `TransportSecurity`, this transport reduced a clean release build of `hearth` from 970 to 523
///   seconds of processor time and from 929 to 116 steps. The stripped, dynamically linked program shrank from 37 to 25
///   MB.
///
/// The transport supports only what a Firestore client needs: calls with one or more requests, deadlines, trailers,
/// flow control that extends to the reader, and detection of calls that the peer has not processed. It does not support
/// compression, load balancing, retry policies or interceptors. The tests use grpc-swift's server
/// (`Tests/FirestoreGRPCTests`).
///
/// Consider returning to grpc-swift's transport if more of gRPC is needed. Also consider it once that transport ends
/// every call when its connection breaks, and adds less than 100 seconds of processor time to the build.
final class HTTP2Connection: Sendable {
  fileprivate let channel: any Channel
  private let calls: NIOLoopBound<CallConnection>

  private init(_ channel: any Channel, _ calls: NIOLoopBound<CallConnection>) {
    (self.channel, self.calls) = (channel, calls)
  }

  /// Opens a connection.
  /// - Parameters:
  ///   - tls: the TLS context; `nil` for plain text.
  ///   - onRetirement: called when no more calls may start on the connection.
  /// - Returns: a future for the connection after the peer has sent its settings. If it fails, the error is a
  ///   `TransportFailure`.
  static func open(
    to endpoint: Endpoint, tls: TLSContext?, _ heads: RequestHeads, _ keepalive: Connection.Keepalive,
    on loop: any EventLoop, onRetirement: @escaping @Sendable () -> Void
  ) -> EventLoopFuture<HTTP2Connection> {
    // A host with several addresses may create several channels. Only one of them is used.
    let setUp = SetUpConnections()
    let bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(TimeAmount(keepalive.timeout))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          let calls = CallConnection(heads, keepalive, on: channel.eventLoop)
          try pipeline.addHandler(calls.signs)
          if let tls { try pipeline.addHandler(tls.clientHandler(for: TLSContext.Peer(endpoint.host))) }
          try pipeline.addHandler(calls.frames)
          setUp.add(HTTP2Connection(channel, NIOLoopBound(calls, eventLoop: channel.eventLoop)))
        }
      }
    return bootstrap.connect(to: endpoint)
      .flatMapErrorThrowing { throw TransportFailure.unconnected($0) }
      .flatMap { channel in
        guard let connection = setUp[channel] else {
          return channel.eventLoop.makeFailedFuture(TransportFailure.cut(hasGreeted: false))
        }
        return connection.calls.value.greeting(onRetirement: onRetirement).map { connection }
      }
  }

  /// Starts a call. Must be called on the connection's thread.
  /// - Parameter message: the whole request; `nil` if the request is sent in pieces.
  /// - Throws: `TransportFailure.notTaken` if the connection accepts no more calls.
  func begin(_ head: RequestHead, _ message: [UInt8]?) throws(TransportFailure) -> CallStream {
    try calls.value.begin(head, message)
  }

  /// Rejects new calls, and closes the connection after the last call.
  func retire() { channel.eventLoop.execute { [calls] in calls.value.retire() } }

  var closed: EventLoopFuture<Void> { channel.closeFuture }

  /// Closes the connection and ends all its calls.
  func close() -> EventLoopFuture<Void> {
    channel.close(promise: nil)
    return channel.closeFuture
  }
}

/// The HTTP/2 connections by channel, for the channels that are created during one attempt to connect.
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
    // A literal address needs no lookup.
    if let address = try? SocketAddress(ipAddress: endpoint.host, port: endpoint.port) { return connect(to: address) }
    return connect(host: endpoint.host, port: endpoint.port)
  }
}

extension TLSContext.Peer {
  /// Parses a host.
  /// - Parameter host: a host name, or a literal address.
  init(_ host: String) {
    self = (try? SocketAddress(ipAddress: host, port: 0)) == nil ? .host(host) : .address(host)
  }
}
