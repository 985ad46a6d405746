// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import FirestoreServer
import HTTP2Frames
import NIOCore
import TransportSecurity

/// A client's HTTP/2 connection, and the connections to the server that carry its streams. Pieces are forwarded when
/// they arrive. A side gets flow-control credit for more pieces when the other side has accepted the earlier ones.
final class HTTP2Bridge: ProxiedConnection {
  let core: ProxyCore
  private(set) var number = 0
  private(set) var client: FrameConnection?
  private var upstream: Upstream?
  private(set) var upstreams: [Upstream] = []
  var streams: [Int: BridgedStream] = [:]
  var token = ExpiredToken()
  private(set) var isOver = false
  /// The bytes that have been credited to the client but not sent to the server. They belong to incomplete messages, or
  /// to complete messages that wait for the server.
  private var heldBytes = 0
  /// The part of `heldBytes` that belongs to complete messages.
  private var waitingBytes = 0
  /// The streams whose incomplete messages get no more flow-control credit until complete messages have been sent.
  private var stalled: [BridgedStream] = []
  /// The reason why the proxy broke the connection.
  private var breakage: String?
  var isInTurn = false

  init(_ core: ProxyCore) { self.core = core }

  /// Adds the handler at the end of a client's pipeline.
  func begin(on channel: any Channel) throws {
    number = core.add(self)
    let connection = FrameConnection(.client, self, .proxied, handshake: core.handshake.client)
    client = connection
    core.tellClient(number, channel, speaks: "HTTP/2")
    try channel.pipeline.syncOperations.addHandler(connection)
  }

  // MARK: Requests

  func begin(_ stream: BridgedStream, _ head: HeaderBlock, isLast: Bool) {
    stream.early = [.headers(head, isLast: isLast)]
    guard let pace = core.pace(stream.method.lane, bytes: 0, isAnswer: false) else {
      return conveyor(&stream.toServer).send(nil) {}
    }
    if pace.isZero { return begin(stream) }
    conveyor(&stream.toServer).send(pace) { [weak self] in self?.begin(stream) }
  }

  func begin(_ stream: BridgedStream) {
    if stream.isAnswerOver || isOver { return }
    let upstream = current()
    stream.upstream = upstream
    upstream.add(stream)
  }

  /// Sends a piece to the server, after all earlier pieces.
  func toServer(_ piece: StreamEnd.Piece, _ stream: BridgedStream, bytes: Int) {
    if core.isCalm, stream.toServer == nil { return passToServer(piece, stream) }
    let pace = core.pace(stream.method.lane, bytes: bytes, isAnswer: false)
    conveyor(&stream.toServer).send(pace) { [weak self] in self?.passToServer(piece, stream) }
  }

  private static let mostHeldBytes = 32 << 20

  /// Gives the client credit for the rest of an incomplete message, which could not arrive otherwise. If too many bytes
  /// wait for a server that does not read, the client must wait too.
  /// - Returns: whether the buffered bytes are within the limits.
  func makeRoom(for stream: BridgedStream) -> Bool {
    let isLarger = countRequests(of: stream)
    if heldBytes > Self.mostHeldBytes, waitingBytes > 0 {
      if !stream.isStalled, stream.requests.size > 0 {
        stream.isStalled = true
        stalled.append(stream)
      }
    } else {
      stream.client.connection.settle(stream.requests.settle(Int.max), stream.client)
    }
    return !isLarger
      || heldBytes - waitingBytes <= Self.mostHeldBytes && core.heldBytes <= ProxyCore.mostHeldBytes
  }

  /// Records that request bytes of a stream have been sent to the server, and credits them to the client.
  func hasSentRequest(_ size: Int, of stream: BridgedStream) {
    let waited = min(size, stream.waitingBytes)
    stream.waitingBytes -= waited
    stream.client.connection.settle(size - waited, stream.client)
    if waited > 0 { _ = countRequests(of: stream) }
  }

  /// Counts the buffered bytes of a stream, and resumes stalled streams when the limits allow more bytes.
  /// - Returns: whether the stream has more buffered bytes than before.
  @discardableResult private func countRequests(of stream: BridgedStream) -> Bool {
    let (growth, wait) = (stream.heldBytes - stream.counted.held, stream.waitingBytes - stream.counted.waiting)
    stream.counted = (stream.heldBytes, stream.waitingBytes)
    heldBytes += growth
    waitingBytes += wait
    core.heldBytes += growth
    if !stalled.isEmpty, heldBytes <= Self.mostHeldBytes || waitingBytes == 0 {
      let waiting = stalled
      stalled = []
      for stream in waiting {
        stream.isStalled = false
        if !stream.isAnswerOver { stream.client.connection.settle(stream.requests.settle(Int.max), stream.client) }
      }
    }
    return growth > 0
  }

  private func releaseRequests(of stream: BridgedStream) {
    stream.requests = RequestAssembly()
    stream.waitingBytes = 0
    countRequests(of: stream)
  }

  private func passToServer(_ piece: StreamEnd.Piece, _ stream: BridgedStream) {
    if stream.isAnswerOver { return }
    if let end = stream.server { end.connection.send(piece, on: end) } else { stream.early.append(piece) }
  }

  private func conveyor(_ conveyor: inout ByteRelay?) -> ByteRelay {
    if let conveyor { return conveyor }
    let fresh = ByteRelay(core.loop)
    conveyor = fresh
    return fresh
  }

  // MARK: The server

  private func current() -> Upstream {
    if let upstream, !upstream.isRetiring, upstream.state != .closed { return upstream }
    let fresh = Upstream()
    (upstream, upstreams) = (fresh, upstreams.filter { $0.state != .closed } + [fresh])
    core.connect { [weak self] channel in
      guard let self else { return }
      let connection = FrameConnection(.server, self, .proxied, handshake: core.handshake.server)
      fresh.attempts[ObjectIdentifier(channel)] = connection
      try channel.pipeline.syncOperations.addHandlers(
        SilenceHandler(connection, period: core.silence), connection)
    }
    .assumeIsolated().whenComplete { [weak self] result in
      guard let self else { return }
      // The future completes before the handlers have sent their first frames.
      core.loop.assumeIsolated().execute { self.hear(result, of: fresh) }
    }
    return fresh
  }

  private func hear(_ result: Result<any Channel, any Error>, of fresh: Upstream) {
    let attempts = fresh.attempts
    fresh.attempts = [:]
    switch result {
    case .success(let channel):
      guard !isOver, let connection = attempts[ObjectIdentifier(channel)] else { return channel.close(promise: nil) }
      (fresh.connection, fresh.state) = (connection, .open)
      if connection.isClosed {
        // The connection may already have failed.
        if let failure = connection.failure { failed(connection, failure) }
        fail(fresh, fresh.failure ?? core.broken)
      } else {
        fresh.beginNext()
      }
    case .failure(let error): fail(fresh, core.unreachable(error))
    }
  }

  private func upstream(of connection: FrameConnection) -> Upstream? {
    upstreams.first { $0.connection === connection }
  }

  private func fail(_ upstream: Upstream, _ status: RPCStatus) {
    upstream.state = .closed
    upstreams.removeAll { $0 === upstream }
    for stream in Array(streams.values) where stream.upstream === upstream { answer(stream, status) }
  }

  func failed(_ connection: FrameConnection, _ failure: ConnectionFailure) {
    if connection === client {
      core.tell(connectionEvent("the client \(failure.proxiedWords)"))
    } else if let upstream = upstream(of: connection) {
      let words = "\(core.target.text) \(failure.proxiedWords)"
      upstream.failure = RPCStatus(.unavailable, words + ".")
      core.tell(connectionEvent(words))
    }
  }

  func closed(_ connection: FrameConnection) {
    if connection === client {
      let end =
        breakage.map { RPCStatus(.unavailable, "The proxy broke the connection: \($0)") }
        ?? RPCStatus(.cancelled, "The client closed the connection.")
      for stream in Array(streams.values) { abandon(stream, .cancel, end) }
      for upstream in upstreams {
        upstream.connection?.close()
        // Breaks a reference cycle: a stream that has not begun holds its upstream.
        _ = upstream.takeBeginning()
      }
      (isOver, client, upstream, upstreams) = (true, nil, nil, [])
      core.remove(number)
      core.tell(core.event(.disconnected, connection: number))
    } else if let upstream = upstream(of: connection) {
      fail(upstream, upstream.failure ?? core.broken)
    }
  }

  // MARK: Answers

  /// A part of a response to the client.
  enum Answer {
    case piece(StreamEnd.Piece)
    /// A message from the proxy.
    case message(ByteBuffer)
    /// The end of the response, with a status from the proxy.
    case status(RPCStatus)
    case reset(HTTP2Code)
  }

  func toClient(_ answer: Answer, _ stream: BridgedStream, bytes: Int) {
    if core.isCalm, stream.toClient == nil { return passToClient(answer, stream) }
    let pace = core.pace(stream.method.lane, bytes: bytes, isAnswer: true)
    conveyor(&stream.toClient).send(pace) { [weak self] in self?.passToClient(answer, stream) }
  }

  private func passToClient(_ answer: Answer, _ stream: BridgedStream) {
    guard !stream.isOver, let client else { return }
    switch answer {
    case .piece(.headers(let block, let isLast)):
      // The head may have been sent already, before a message from the proxy.
      if !isLast, stream.hasAnswerHead { return }
      stream.hasAnswerHead = true
      client.send(.headers(block, isLast: isLast), on: stream.client)
    case .piece(let piece): client.send(piece, on: stream.client)
    case .message(let bytes):
      if !stream.hasAnswerHead {
        client.send(.headers(HeaderBlock(GRPCFraming.headers), isLast: false), on: stream.client)
      }
      stream.hasAnswerHead = true
      client.send(.data(bytes, owed: 0, isLast: false), on: stream.client)
    case .status(let status):
      stream.outcome = status
      if stream.isGRPC {
        let trailers = GRPCFraming.ending(status, hasHeaders: stream.hasAnswerHead)
        return client.send(.headers(HeaderBlock(trailers), isLast: true), on: stream.client)
      }
      let (headers, body) = PlainAnswer.http2(status)
      if !stream.hasAnswerHead { client.send(.headers(HeaderBlock(headers), isLast: false), on: stream.client) }
      client.send(.data(body, owed: 0, isLast: true), on: stream.client)
    case .reset(let code):
      stream.outcome = RPCStatus(.unavailable, "\(core.target.text) ended the stream: \(code)")
      client.drop(stream.client, code)
      finish(stream)
    }
  }

  // MARK: Ends

  /// Answers in place of the server, and drops the stream to the server.
  func answer(_ stream: BridgedStream, _ status: RPCStatus) {
    if stream.isAnswerOver { return }
    releaseRequests(of: stream)
    stream.isAnswerOver = true
    forget(stream, .cancel)
    toClient(.status(status), stream, bytes: 0)
  }

  /// Ends a stream as the server did.
  func end(_ stream: BridgedStream, with code: HTTP2Code) {
    if stream.isAnswerOver { return }
    stream.isAnswerOver = true
    toClient(.reset(code), stream, bytes: 0)
  }

  /// Releases a stream after the client has received the response or has disconnected.
  func finish(_ stream: BridgedStream, _ code: HTTP2Code = .cancel) {
    if stream.isOver { return }
    (stream.isOver, stream.isAnswerOver) = (true, true)
    releaseRequests(of: stream)
    streams[stream.client.id] = nil
    stream.toClient?.drop()
    forget(stream, code)
    client?.drop(stream.client, .noError)
    tellEnd(of: stream)
  }

  /// Ends a stream whose response can no longer be delivered.
  /// - Parameter outcome: the final status in the event.
  func abandon(_ stream: BridgedStream, _ code: HTTP2Code, _ outcome: RPCStatus) {
    stream.outcome = outcome
    finish(stream, code)
  }

  private func forget(_ stream: BridgedStream, _ code: HTTP2Code) {
    stream.toServer?.drop()
    stream.early = []
    guard let end = stream.server else { return }
    stream.server = nil
    end.connection.drop(end, code)
    guard let upstream = stream.upstream else { return }
    if upstream.isRetiring, end.connection.ends.isEmpty { end.connection.close() } else { upstream.beginNext() }
  }

  func breakOff(because reason: String?) {
    if isOver { return }
    if let reason { core.tell(connectionEvent("broken: \(reason)")) }
    (isOver, breakage) = (true, reason)
    client?.close()
  }

  func interrupt(_ lanes: [FaultLane], with status: RPCStatus) {
    for stream in Array(streams.values) where lanes.contains(stream.method.lane) { answer(stream, status) }
  }

  func acceptToken() { token.accept() }

  func expireToken() {
    token.expire()
    for stream in Array(streams.values) where [.listen, .writes].contains(stream.method.kind) {
      answer(stream, ExpiredToken.status)
    }
  }
}

extension FrameLimits {
  /// Generous limits: the proxy forwards everything, and the server enforces its own limits.
  fileprivate static let proxied = FrameLimits(
    streams: 8_192, streamWindow: 1 << 20, connectionWindow: 8 << 20, headerBytes: 64 << 10, controlFrames: 100_000,
    brokenStreams: 100_000, windowUpdates: 100_000)
}

extension ConnectionFailure {
  /// The failure in words, with advice about the proxy's TLS option.
  fileprivate var proxiedWords: String {
    switch self {
    case .violation(.tls): "\(words); add --to-tls to the proxy"
    case .transport(let error as TLSFailure): "does not accept TLS: \(error)"
    default: words
    }
  }
}
