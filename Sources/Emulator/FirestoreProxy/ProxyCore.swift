// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import Glibc
import NIOCore
import NIOHPACK
import NIOPosix
import TransportSecurity

/// The state that the connections of a proxy share. Used only on the proxy's event loop.
final class ProxyCore {
  let loop: any EventLoop
  let target: Endpoint
  let faults: FaultInjector
  /// The times within which client and server must begin their protocols.
  let handshake: (client: TimeAmount, server: TimeAmount)
  /// The period without data from the server after which the proxy sends it a ping.
  let silence: TimeAmount
  /// The bytes of all connections that have been credited to clients but not sent to the server.
  var heldBytes = 0
  static let mostHeldBytes = 256 << 20
  /// The maximum size in bytes of a message whose content is reported; 0 to report no contents.
  let contentLimit: Int
  private let tls: TLSContext?
  private let sink: (@Sendable (ProtocolEvent) -> Void)?
  private var connections: [Int: any ProxiedConnection] = [:]
  private var lastConnection = 0
  private var lastStream = 0
  /// A copy of the fault settings, so that checking the settings for each message is cheap.
  private(set) var settings = FaultSettings() { didSet { isCalm = settings.isCalm } }
  /// Whether no setting affects messages.
  private(set) var isCalm = true
  /// The WebChannel sessions that faults affect.
  var channels = BrokenChannels()

  init(
    on loop: any EventLoop, to target: Endpoint, _ tls: TLSContext?, _ faults: FaultInjector,
    handshake: (client: TimeAmount, server: TimeAmount), silence: TimeAmount, contentLimit: Int,
    _ sink: (@Sendable (ProtocolEvent) -> Void)?
  ) {
    (self.loop, self.target, self.tls, self.faults) = (loop, target, tls, faults)
    (self.handshake, self.silence, self.contentLimit, self.sink) = (handshake, silence, contentLimit, sink)
    settings = faults.settings
    isCalm = settings.isCalm
  }

  // MARK: Connections

  func add(_ connection: any ProxiedConnection) -> Int {
    lastConnection += 1
    connections[lastConnection] = connection
    return lastConnection
  }

  func remove(_ number: Int) { connections[number] = nil }

  func nextStream() -> Int {
    lastStream += 1
    return lastStream
  }

  /// Reports a client that has connected.
  func tellClient(_ number: Int, _ channel: any Channel, speaks name: String) {
    guard isHeard else { return }
    var event = event(.connected, connection: number)
    let address = channel.remoteAddress
    event.address = address?.ipAddress.map { "\($0.contains(":") ? "[\($0)]" : $0):\(address?.port ?? 0)" }
    event.remark = name
    tell(event)
  }

  /// Reports a client that sent nothing within the handshake time.
  func tellSilentClient() {
    lastConnection += 1
    var event = event(.connection, connection: lastConnection)
    event.remark = "the client sent nothing within \(handshake.client.nanoseconds / 1_000_000_000) seconds"
    tell(event)
  }

  /// Connects to the server.
  /// - Parameter configure: adds the handlers of the server's protocol after the TLS handler.
  func connect(_ configure: @escaping (any Channel) throws -> Void) -> EventLoopFuture<any Channel> {
    let (tls, host) = (tls, target.host)
    let configure = NIOLoopBound(configure, eventLoop: loop)
    let bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(.seconds(10))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      // Keepalive detects servers that disappeared.
      .channelOption(.socketOption(.so_keepalive), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls {
            try channel.pipeline.syncOperations.addHandler(tls.clientHandler(for: Self.peer(host)))
          }
          try configure.value(channel)
        }
      }
    if let address = try? SocketAddress(ipAddress: host, port: target.port) { return bootstrap.connect(to: address) }
    return bootstrap.connect(host: host, port: target.port)
  }

  /// The server's name in HTTP, without the default port of TLS.
  var authority: String { target.port == 443 ? target.host : target.text }

  /// The request head for a TLS server, with that server's name. Pseudo-headers, which begin with a colon, remain
  /// first, as HTTP/2 requires.
  func addressed(_ headers: HPACKHeaders) -> HPACKHeaders {
    var addressed = HPACKHeaders()
    // Servers reject a request whose host differs from its authority.
    for (name, value, indexable) in headers where name != "host" {
      let own = name == ":authority" ? authority : name == ":scheme" ? "https" : value
      addressed.add(name: name, value: own, indexing: indexable)
    }
    return addressed
  }

  private static func peer(_ host: String) -> TLSContext.Peer {
    (try? SocketAddress(ipAddress: host, port: 0)) == nil ? .host(host) : .address(host)
  }

  /// The status of a call if the server cannot be reached.
  func unreachable(_ error: any Error) -> RPCStatus {
    let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
    return RPCStatus(.unavailable, "\(target.text) cannot be reached by the proxy: \(reason).")
  }

  var broken: RPCStatus { RPCStatus(.unavailable, "The connection to \(target.text) broke.") }

  // MARK: Faults

  func perform(_ change: FaultChange) throws(RPCStatus) {
    if change == .event(.expireToken) {
      for connection in connections.values { connection.expireToken() }
    } else {
      try faults.perform(change)
      settings = faults.settings
      if change == .calm { forgiveConnections() }
    }
  }

  func apply(_ new: FaultSettings) {
    faults.apply(new)
    settings = faults.settings
    if settings.isCalm { forgiveConnections() }
  }

  private func forgiveConnections() {
    channels = BrokenChannels()
    for connection in connections.values { connection.acceptToken() }
  }

  /// Ends the open calls of the given kinds. If every kind is given, closes the connections.
  func interrupt(_ lanes: [FaultLane], with status: RPCStatus) {
    settings = faults.settings
    for connection in Array(connections.values) {
      if lanes.count == FaultLane.allCases.count {
        connection.breakOff(because: status.message)
      } else {
        connection.interrupt(lanes, with: status)
      }
    }
  }

  /// Whether calls of this kind cannot reach the server now.
  func isDown(_ lane: FaultLane) -> Bool { faults.isDown(lane) }

  /// Whether new connections are closed immediately.
  var refusesConnections: Bool { FaultLane.allCases.allSatisfy(faults.isDown) }

  /// The delay of a piece of a stream; `nil` if it never arrives.
  func pace(_ lane: FaultLane, bytes: Int, isAnswer: Bool) -> ByteRelay.Pace? {
    if isCalm { return ByteRelay.Pace.none }
    if settings.isHalfOpen { return nil }
    let latency = faults.delay(lane, isAnswer: isAnswer) { 0 }
    let whole = faults.delay(lane, isLate: false, isAnswer: isAnswer) { bytes }
    return ByteRelay.Pace(latency: TimeAmount(latency), transmission: TimeAmount(whole))
  }

  // MARK: Telling

  /// Whether events are reported.
  var isHeard: Bool { sink != nil }

  /// Creates an event with the current time.
  func event(
    _ kind: ProtocolEvent.Kind, connection: Int, stream: Int? = nil, _ method: ProxiedMethod? = nil
  ) -> ProtocolEvent {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let time = Timestamp(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
    return ProtocolEvent(kind, at: time, connection: connection, stream: stream, method: method?.name ?? "")
  }

  func tell(_ event: @autoclosure () -> ProtocolEvent) { if let sink { sink(event()) } }

  func closeAll() { for connection in Array(connections.values) { connection.breakOff(because: nil) } }
}

/// A client's connection, with its streams and its connections to the server.
protocol ProxiedConnection: AnyObject {
  /// Closes both sides immediately.
  /// - Parameter reason: reported as an event; `nil` when the proxy itself ends.
  func breakOff(because reason: String?)
  /// Ends the streams of some kinds.
  func interrupt(_ lanes: [FaultLane], with status: RPCStatus)
  /// Rejects calls as unauthenticated until they have another token, and ends Listen and Write streams.
  func expireToken()
  /// Accepts the expired token again.
  func acceptToken()
}

/// Rejects the calls of a connection that use an expired token.
struct ExpiredToken {
  static let status = RPCStatus(.unauthenticated, "The token expired because of an injected fault.")

  private var lastToken: String?
  /// The rejected token; `.some(nil)` for calls without a token.
  private var refused: String??

  mutating func expire() { refused = .some(lastToken) }
  mutating func accept() { refused = nil }

  /// Records the token of a call.
  /// - Returns: whether the call is rejected.
  mutating func refuses(_ token: String?) -> Bool {
    lastToken = token
    guard let refused else { return false }
    if refused == token { return true }
    self.refused = nil
    return false
  }
}

/// Delays the pieces that one side of a stream sends to the other, and keeps their order. Used only on the stream's
/// event loop.
final class ByteRelay {
  private let loop: any EventLoop
  private var items: CircularBuffer<(due: NIODeadline, pass: () -> Void)> = []
  /// The time when the last piece arrives.
  private var last = NIODeadline.uptimeNanoseconds(0)
  private var timer: Scheduled<Void>?

  init(_ loop: any EventLoop) { self.loop = loop }

  /// Passes on a piece.
  /// - Parameters:
  ///   - pace: the time until the piece arrives; `nil` for never.
  ///   - pass: called when the piece arrives; immediately if there is no delay.
  func send(_ pace: Pace?, _ pass: @escaping () -> Void) {
    if let pace, pace.isZero, items.isEmpty { return pass() }
    guard let pace else {
      items.append((.distantFuture, pass))
      last = .distantFuture
      return
    }
    if last < .distantFuture { last = max(.now() + pace.latency, last) + pace.transmission }
    items.append((last, pass))
    schedule()
  }

  /// Drops the pieces that have not arrived.
  func drop() {
    items.removeAll()
    timer?.cancel()
    timer = nil
  }

  /// The time that a piece takes: its latency, and its transmission, during which no other piece is transmitted.
  struct Pace {
    var latency: TimeAmount
    var transmission: TimeAmount

    var isZero: Bool { latency == .zero && transmission == .zero }
    static let none = Pace(latency: .zero, transmission: .zero)
  }

  private func schedule() {
    guard timer == nil, let first = items.first, first.due < .distantFuture else { return }
    let bound = NIOLoopBound(self, eventLoop: loop)
    timer = loop.scheduleTask(deadline: first.due) { bound.value.passDue() }
  }

  private func passDue() {
    timer = nil
    let now = NIODeadline.now()
    while let item = items.first, item.due <= now {
      items.removeFirst()
      item.pass()
    }
    schedule()
  }
}
