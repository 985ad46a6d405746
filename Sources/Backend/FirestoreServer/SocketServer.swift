// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreClientState
import FirestoreService
import Glibc
import NIOCore
import NIOPosix

/// Serves the embedded backend to the other processes of its user on a local socket: google.firestore.v1 over gRPC, and
/// the list of attached processes (`SharingLine`).
package final class SocketServer: Sendable {
  private struct State {
    var listener: (any Channel)?
    var channels: [ObjectIdentifier: any Channel] = [:]
    var beat: RepeatedTask?
    var isClosed = false
  }

  /// The heartbeat interval. Clients close a stream after two minutes of silence (PROTOCOL §2.7).
  private static let heartbeatInterval = TimeAmount.seconds(30)
  private static let maximumConnections = 1_000

  /// The maximum number of connections: at most half of the file descriptors, so that enough descriptors remain for the
  /// rest of the program.
  private static let connections: Int = {
    var files = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return maximumConnections }
    return max(1, min(maximumConnections, Int(clamping: files.rlim_cur) / 2))
  }()

  private let loop = ServerThread.loop
  private let attendance: AttachedProcesses
  private let trusted: Set<UInt32>
  private let state: NIOLoopBoundBox<State>

  /// Serves until `close`.
  /// - Parameters:
  ///   - descriptor: a listening socket, which this server owns from now on.
  ///   - trusted: the users whose processes are served.
  ///   - backend: runs on `ServerThread.executor`.
  ///   - onChange: called with all attached processes, on the connections' thread.
  ///   - onClaim: called on the same thread when an attached process must open the data itself; returns the reason if
  ///     it does not get the data, or `nil` if it does.
  package init(
    listening descriptor: CInt, to trusted: Set<UInt32>, backend: LocalBackend, welcome: SharingLine.Welcome,
    onChange: @escaping @Sendable ([DataMember]) -> Void, onClaim: @escaping @Sendable () -> String?
  ) {
    precondition(backend.executor === ServerThread.executor, "The backend does not run on the server's executor.")
    attendance = AttachedProcesses(welcome, on: loop, onChange: onChange, onClaim: onClaim)
    self.trusted = trusted
    state = .makeBoxSendingValue(State(), eventLoop: loop)
    listen(descriptor, backend)
  }

  private func listen(_ descriptor: CInt, _ backend: LocalBackend) {
    let (loop, attendance, state, trusted) = (loop, attendance, state, trusted)
    let calls = CallPipeline(
      FirestoreService(backend: backend), DeliverySlice(loop), .loopback,
      ServerBudget(on: loop, limit: ConnectionLimits.totalBytes))
    let kinds = SocketGreetingHandler.Kinds(calls: calls, attendance: attendance)
    let listening = ServerBootstrap(group: loop)
      .childChannelInitializer { channel in
        PeerCredentials.of(channel).flatMapThrowing { peer in
          guard trusted.contains(peer.user), state.value.channels.count < Self.connections, !state.value.isClosed else {
            throw ChannelError.ioOnClosedChannel
          }
          try channel.closeOnExec()
          let id = ObjectIdentifier(channel)
          state.value.channels[id] = channel
          channel.closeFuture.assumeIsolated().whenComplete { _ in state.value.channels[id] = nil }
          try channel.pipeline.syncOperations.addHandler(SocketGreetingHandler(kinds, process: peer.process))
        }
      }
      .withBoundSocket(descriptor)
    listening.whenSuccess { listener in
      loop.execute {
        state.value.listener = listener
        if state.value.isClosed { return listener.close(promise: nil) }
        state.value.beat = loop.scheduleRepeatedTask(
          initialDelay: Self.heartbeatInterval, delay: Self.heartbeatInterval
        ) { [weak backend] _ in
          // Heartbeats show clients in other processes that this process is alive.
          guard let backend, !attendance.isEmpty else { return }
          Task { await backend.heartbeat() }
        }
      }
    }
  }

  /// Accepts no more connections and ends the open ones. The backend is released with the last connection. Returns
  /// immediately.
  package func close() {
    let state = state
    loop.execute {
      state.value.isClosed = true
      state.value.beat?.cancel()
      state.value.beat = nil
      state.value.listener?.close(promise: nil)
      state.value.listener = nil
      for channel in state.value.channels.values { channel.close(promise: nil) }
    }
  }
}

extension Channel {
  /// Marks the connection so that programs that this process starts, such as an editor, do not inherit it. Otherwise
  /// such programs would keep the connection open after this process has ended.
  fileprivate func closeOnExec() throws {
    _ = try pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      fcntl($0, F_SETFD, FD_CLOEXEC)
    }
  }
}

/// The process at the other end of a local socket, as reported by the system.
private struct PeerCredentials: Sendable {
  var process: Int32 = 0
  var user: UInt32 = .max
  var group: UInt32 = .max

  static func of(_ channel: any Channel) -> EventLoopFuture<PeerCredentials> {
    guard let options = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeSucceededFuture(PeerCredentials())
    }
    return options.unsafeGetSocketOption(level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
  }
}

/// Identifies the purpose of a connection on the data's socket by its first byte.
///
/// ```
/// P  the preface of HTTP/2 ──► calls of a process on this machine
/// h  hearth …              ──► a process introduces itself, and receives the list of the others
///    anything else         ──► closed: this socket does not serve HTTP/1
/// ```
final class SocketGreetingHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  struct Kinds: Sendable {
    let calls: CallPipeline
    let attendance: AttachedProcesses
  }

  /// The time within which a peer must send its first byte.
  private static let patience = TimeAmount.seconds(10)

  private let kinds: Kinds
  private let process: Int32
  private var deadline: Scheduled<Void>?

  init(_ kinds: Kinds, process: Int32) {
    self.kinds = kinds
    self.process = process
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    guard let first = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) else { return }
    do {
      switch first {
      case UInt8(ascii: "h"):
        try context.pipeline.syncOperations.addHandler(AttachedProcessHandler(kinds.attendance, process: process))
      case UInt8(ascii: "P"):
        try kinds.calls.configure(context.channel, kinds.calls.connection(on: context.eventLoop))
      default: return context.close(promise: nil)
      }
    } catch { return context.close(promise: nil) }
    if bytes.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(bytes)) }
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
