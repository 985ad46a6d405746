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

/// The things that the connections of a proxy share. Used on its event loop only.
final class ProxyCore {
  let loop: any EventLoop
  let target: Endpoint
  let faults: FaultInjector
  /// The times within which peers have to begin to speak their protocol.
  let handshake: (client: TimeAmount, server: TimeAmount)
  /// The period after which a silent server is asked for a sign of life.
  let silence: TimeAmount
  /// The bytes of all connections for which the clients have room again although the server does not have them.
  var heldBytes = 0
  static let mostHeldBytes = 256 << 20
  /// The size in bytes of the longest message whose content is told; 0 to tell none.
  let contentLimit: Int
  private let tls: TLSContext?
  private let sink: (@Sendable (ProtocolEvent) -> Void)?
  private var connections: [Int: any ProxiedConnection] = [:]
  private var lastConnection = 0
  private var lastStream = 0
  /// The settings of the faults, kept here so that a message asks for none while there are none.
  private(set) var settings = FaultSettings() { didSet { isCalm = settings.isCalm } }
  /// Whether no setting disturbs what passes.
  private(set) var isCalm = true
  /// The sessions of WebChannel that a fault is about.
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

  /// Tells of a client that has come.
  func tellClient(_ number: Int, _ channel: any Channel, speaks name: String) {
    guard isHeard else { return }
    var event = event(.connected, connection: number)
    let address = channel.remoteAddress
    event.address = address?.ipAddress.map { "\($0.contains(":") ? "[\($0)]" : $0):\(address?.port ?? 0)" }
    event.remark = name
    tell(event)
  }

  /// Tells of a client that has said nothing until it was to have begun.
  func tellSilentClient() {
    lastConnection += 1
    var event = event(.connection, connection: lastConnection)
    event.remark = "the client said nothing within \(handshake.client.nanoseconds / 1_000_000_000) seconds"
    tell(event)
  }

  /// Connects to the server.
  /// - Parameter configure: adds the handlers that speak its protocol, behind TLS.
  func connect(_ configure: @escaping (any Channel) throws -> Void) -> EventLoopFuture<any Channel> {
    let (tls, host) = (tls, target.host)
    let configure = NIOLoopBound(configure, eventLoop: loop)
    let bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(.seconds(10))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      // Keepalive finds servers that are gone without a word.
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

  /// The server's name in HTTP: without the port that TLS has by itself.
  var authority: String { target.port == 443 ? target.host : target.text }

  /// The head of a request as it goes to a server behind TLS, with that server's name. What begins with a colon stays in
  /// front, where HTTP/2 wants it.
  func addressed(_ headers: HPACKHeaders) -> HPACKHeaders {
    var addressed = HPACKHeaders()
    // A server refuses a request with a host that differs from its authority.
    for (name, value, indexable) in headers where name != "host" {
      let own = name == ":authority" ? authority : name == ":scheme" ? "https" : value
      addressed.add(name: name, value: own, indexing: indexable)
    }
    return addressed
  }

  private static func peer(_ host: String) -> TLSContext.Peer {
    (try? SocketAddress(ipAddress: host, port: 0)) == nil ? .host(host) : .address(host)
  }

  /// The status of a call that has no server to go to.
  func unreachable(_ error: any Error) -> RPCStatus {
    let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
    return RPCStatus(.unavailable, "\(target.text) cannot be reached by the proxy: \(reason).")
  }

  var broken: RPCStatus { RPCStatus(.unavailable, "The connection to \(target.text) broke.") }

  // MARK: Faults

  /// Makes a change of the faults.
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

  /// Ends what is open of some kinds of calls.
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

  /// Whether the kind of calls is cut off now.
  func isDown(_ lane: FaultLane) -> Bool { faults.isDown(lane) }

  /// Whether the next connection is cut off as it comes.
  var refusesConnections: Bool { FaultLane.allCases.allSatisfy(faults.isDown) }

  /// The time that a piece of a stream takes; `nil` for never.
  func pace(_ lane: FaultLane, bytes: Int, isAnswer: Bool) -> ByteRelay.Pace? {
    if isCalm { return ByteRelay.Pace.none }
    if settings.isHalfOpen { return nil }
    let latency = faults.delay(lane, isAnswer: isAnswer) { 0 }
    let whole = faults.delay(lane, isLate: false, isAnswer: isAnswer) { bytes }
    return ByteRelay.Pace(latency: TimeAmount(latency), transmission: TimeAmount(whole))
  }

  // MARK: Telling

  /// Whether traffic is told.
  var isHeard: Bool { sink != nil }

  /// An event that happens now.
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

/// A client's connection with all that belongs to it.
protocol ProxiedConnection: AnyObject {
  /// Closes both sides at once.
  /// - Parameter reason: told with the traffic; `nil` for the proxy's own end.
  func breakOff(because reason: String?)
  /// Ends the streams of some kinds.
  func interrupt(_ lanes: [FaultLane], with status: RPCStatus)
  /// Makes calls unauthenticated until another token comes, and ends the streams of listeners and writes.
  func expireToken()
  /// Takes the token again that has expired.
  func acceptToken()
}

/// The calls of a connection that are refused since their token is no longer good.
struct ExpiredToken {
  static let status = RPCStatus(.unauthenticated, "The token has expired by an injected fault.")

  private var lastToken: String?
  /// The token that is refused; `.some(nil)` for calls without one.
  private var refused: String??

  mutating func expire() { refused = .some(lastToken) }
  mutating func accept() { refused = nil }

  /// Notes the token of a call.
  /// - Returns: whether it is refused.
  mutating func refuses(_ token: String?) -> Bool {
    lastToken = token
    guard let refused else { return false }
    if refused == token { return true }
    self.refused = nil
    return false
  }
}

/// The pieces that one side of a stream sends to the other, in order, each after its time. Used on its event loop only.
final class ByteRelay {
  private let loop: any EventLoop
  private var items: CircularBuffer<(due: NIODeadline, pass: () -> Void)> = []
  /// The time at which the last piece is through.
  private var last = NIODeadline.uptimeNanoseconds(0)
  private var timer: Scheduled<Void>?

  init(_ loop: any EventLoop) { self.loop = loop }

  /// Passes a piece on.
  /// - Parameters:
  ///   - pace: the time until it arrives; `nil` for never.
  ///   - pass: called at once if there is nothing to wait for.
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

  /// Drops what has not arrived.
  func drop() {
    items.removeAll()
    timer?.cancel()
    timer = nil
  }

  /// The time that a piece takes: it is late by the latency, and the line is busy for the transmission.
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
