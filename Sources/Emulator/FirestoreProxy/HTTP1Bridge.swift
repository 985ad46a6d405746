// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import NIOCore
import NIOHTTP1

/// A client's HTTP/1 connection, and the connection to the server that carries its requests, one after the other. While
/// one side does not read, the proxy does not read from the other side.
final class HTTP1Bridge: ProxiedConnection {
  let core: ProxyCore
  private(set) var number = 0
  private var client: ClientSide?
  private var server: ServerSide?
  private var isConnecting = false
  private(set) var exchange: HTTP1Exchange?
  /// The parts of a request that wait for the server's connection.
  private var waiting: [HTTPClientRequestPart] = []
  private var token = ExpiredToken()
  private var isOver = false
  /// The reason why the proxy broke the connection.
  private var breakage: String?

  /// The limit on unsent bytes in one direction. Above it, the proxy does not read from the sending side.
  private static let mostBytes = 1 << 20

  init(_ core: ProxyCore) { self.core = core }

  func begin(on channel: any Channel) throws {
    number = core.add(self)
    core.tellClient(number, channel, speaks: "HTTP/1")
    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
    let client = ClientSide(self)
    self.client = client
    try channel.pipeline.syncOperations.addHandler(client)
  }

  // MARK: Requests

  func receive(_ part: HTTPServerRequestPart) {
    switch part {
    case .head(let head): open(head)
    case .body(let bytes):
      guard let exchange, !exchange.isAnswerOver else { return }
      if exchange.holdsBody { return hold(bytes, exchange) }
      exchange.note(bytes)
      pass(.body(.byteBuffer(bytes)), exchange, bytes: bytes.readableBytes)
    case .end(let trailers):
      guard let exchange else { return }
      exchange.isRequestOver = true
      if exchange.isAnswerOver { return finishIfOver(exchange) }
      if exchange.holdsBody, !decide(exchange) { return }
      tellRequest(exchange)
      pass(.end(trailers), exchange, bytes: 0)
    }
  }

  private func open(_ head: HTTPRequestHead) {
    let method = ProxiedMethod(head.method.rawValue, head.uri)
    let exchange = HTTP1Exchange(core.nextStream(), head, method, on: core.loop)
    self.exchange = exchange
    core.tell(event(.opened, exchange))
    if token.refuses(head.headers.first(name: "authorization")) { return answer(exchange, ExpiredToken.status) }
    if core.isDown(method.lane) {
      return answer(
        exchange, RPCStatus(.unavailable, "The backend cannot be reached because the fault \"down\" is on."))
    }
    if let session = exchange.session, core.channels.dead.contains(session) {
      let unknown = RPCStatus(.invalidArgument, "Unknown SID")
      return answer(exchange, unknown)
    }
    if let name = Self.upgrade(head) {
      return answer(
        exchange,
        RPCStatus(.unimplemented, "The proxy does not support the upgrade to \(name). Connect to the server directly."))
    }
    if method.kind == .read, let code = core.faults.takeReadFault() {
      core.tell(fault("the read is rejected: \(code.name)", exchange))
      return answer(exchange, RPCStatus(code, "The read was rejected by an injected fault."))
    }
    var passed = head
    for name in ["connection", "keep-alive", "proxy-connection", "upgrade"] { passed.headers.remove(name: name) }
    if method.isChannel { passed.headers.remove(name: "accept-encoding") }
    if let session = exchange.session, let known = core.channels.sessions[session] {
      if known.isOver || exchange.isBack && known.hasDue(after: exchange.sent) {
        return answerForServer(exchange, session)
      }
      if known.hasOwn { passed.uri = exchange.uri(acknowledging: known.number(forServer: exchange.sent)) }
    }
    if exchange.isBack, let session = exchange.session { core.channels.backs[session] = self }
    if core.target.isTLS { passed.headers.replaceOrAdd(name: "host", value: core.authority) }
    if exchange.holdsBody {
      exchange.head = passed
    } else {
      pass(.head(passed), exchange, bytes: 0)
    }
  }

  /// The protocol that a client wants to upgrade to; `nil` for `h2c`, which clients offer but do not require.
  private static func upgrade(_ head: HTTPRequestHead) -> String? {
    head.headers[canonicalForm: "upgrade"].first { $0.lowercased() != "h2c" }.map { String($0.prefix(40)) }
  }

  private func hold(_ bytes: ByteBuffer, _ exchange: HTTP1Exchange) {
    exchange.hold(bytes)
    if exchange.held.readableBytes > HTTP1Exchange.mostHeld {
      answer(exchange, RPCStatus(.resourceExhausted, "The request has more than \(HTTP1Exchange.mostHeld) bytes."))
    }
  }

  /// Decides how faults affect a request whose body has arrived.
  /// - Returns: whether the request is forwarded to the server. If so, this function forwards its head and body.
  private func decide(_ exchange: HTTP1Exchange) -> Bool {
    let method = exchange.method
    if method.kind == .listen, exchange.says("addTarget"), let code = core.faults.takeListenFault() {
      guard refuse(exchange, code) else { return false }
    }
    if method.lane == .write, !method.isChannel || exchange.says("writes") {
      switch core.faults.takeWriteFault() {
      case nil: break
      case .dropAcknowledgement?:
        core.tell(fault("the write is passed on, its answer will be lost", exchange))
        if method.isChannel, let session = exchange.session {
          core.channels.losing.insert(session)
        } else {
          exchange.losesAnswer = true
        }
      case .dropRequest?:
        core.tell(fault("the write is lost", exchange))
        if let session = exchange.session { core.channels.kill(session) }
        breakOff(because: "an injected fault drops a write")
        return false
      case .reject(let code)?:
        core.tell(fault("the write is rejected: \(code.name)", exchange))
        let status = RPCStatus(code, "The write was rejected by an injected fault.")
        guard method.isChannel, let session = exchange.session else {
          answer(exchange, status)
          return false
        }
        end(session, with: status)
        answerForServer(exchange, session)
        return false
      }
    }
    if let head = exchange.head { pass(.head(head), exchange, bytes: 0) }
    let body = exchange.held
    if body.readableBytes > 0 { pass(.body(.byteBuffer(body)), exchange, bytes: body.readableBytes) }
    return true
  }

  private func pass(_ part: HTTPClientRequestPart, _ exchange: HTTP1Exchange, bytes: Int) {
    exchange.bytesToServer += bytes
    if exchange.bytesToServer > Self.mostBytes { client?.setReading(false) }
    exchange.toServer.send(core.pace(exchange.method.lane, bytes: bytes, isAnswer: false)) { [weak self] in
      guard let self, !isOver, !exchange.isAnswerOver else { return }
      guard let server else {
        waiting.append(part)
        connect(for: exchange)
        return
      }
      server.send(part) { [weak self] in
        exchange.bytesToServer -= bytes
        if exchange.bytesToServer <= Self.mostBytes { self?.client?.setReading(true) }
      }
    }
  }

  private func connect(for exchange: HTTP1Exchange) {
    if isConnecting { return }
    isConnecting = true
    core.connect { [weak self] channel in
      try channel.pipeline.syncOperations.addHTTPClientHandlers()
      try channel.pipeline.syncOperations.addHandler(ServerSide(self))
    }
    .assumeIsolated().whenComplete { [weak self] result in
      guard let self, !isOver else {
        if case .success(let channel) = result { channel.close(promise: nil) }
        return
      }
      isConnecting = false
      let parts = waiting
      waiting = []
      switch result {
      case .success(let channel):
        server = try? channel.pipeline.syncOperations.handler(type: ServerSide.self)
        for part in parts { server?.send(part) {} }
        exchange.bytesToServer = 0
        client?.setReading(true)
      case .failure(let error): answer(exchange, core.unreachable(error))
      }
    }
  }

  // MARK: Answers

  func receive(_ part: HTTPClientResponsePart, from side: ServerSide) {
    guard side === server, let exchange, !exchange.isAnswerOver else { return }
    if exchange.losesAnswer { return loseAnswer(exchange) }
    switch part {
    case .head(var head):
      // NIO ends the response after this head, and the following bytes are not HTTP.
      if head.status == .switchingProtocols {
        return answer(
          exchange, RPCStatus(.unavailable, "\(core.target.text) switched to another protocol without a request."))
      }
      // Skips 1xx responses.
      if head.status.code < 200 { return }
      exchange.httpStatus = Int(head.status.code)
      head.headers.remove(name: "connection")
      head.headers.remove(name: "keep-alive")
      if !exchange.isKeptAlive { head.headers.add(name: "connection", value: "close") }
      // The proxy may insert frames, so the length can change.
      if exchange.isBack { head.headers.remove(name: "content-length") }
      deliver(.head(head), exchange, bytes: 0)
      if let session = exchange.session { speak(in: session) }
    case .body(let bytes):
      if let session = exchange.session, core.channels.losing.contains(session), bytes.says("commitTime") {
        core.channels.kill(session)
        return loseAnswer(exchange)
      }
      exchange.answerBytes += bytes.readableBytes
      if exchange.method.isChannel { tellAnswer(bytes, exchange) }
      if !exchange.sayings.isEmpty { greet(exchange, bytes) }
      if exchange.isBack, let session = exchange.session { return passFrames(bytes, exchange, session) }
      deliver(.body(.byteBuffer(bytes)), exchange, bytes: bytes.readableBytes)
    case .end(let trailers):
      let rest = exchange.frames.takeRest()
      if !rest.isEmpty { deliver(.body(.byteBuffer(ByteBuffer(bytes: rest))), exchange, bytes: rest.count) }
      exchange.isAnswerOver = true
      deliver(.end(trailers), exchange, bytes: 0)
    }
  }

  func deliver(_ part: HTTPServerResponsePart, _ exchange: HTTP1Exchange, bytes: Int) {
    exchange.bytesToClient += bytes
    if exchange.bytesToClient > Self.mostBytes { server?.setReading(false) }
    exchange.toClient.send(core.pace(exchange.method.lane, bytes: bytes, isAnswer: true)) { [weak self] in
      guard let self, !isOver, let client else { return }
      if case .head = part { exchange.hasAnswerHead = true }
      client.send(part) { [weak self] in
        exchange.bytesToClient -= bytes
        if exchange.bytesToClient <= Self.mostBytes { self?.server?.setReading(true) }
        if case .end = part, !exchange.isKeptAlive { self?.client?.close() }
      }
      if case .end = part {
        exchange.isAnswerDelivered = true
        finishIfOver(exchange)
      }
    }
  }

  private func loseAnswer(_ exchange: HTTP1Exchange) {
    core.tell(fault("the answer is lost", exchange))
    breakOff(because: "an injected fault drops a response")
  }

  // MARK: Ends

  func serverClosed(_ side: ServerSide, _ error: (any Error)?) {
    guard side === server else { return }
    server = nil
    if let error { core.tell(connectionEvent("\(core.target.text) violated the HTTP protocol: \(error)")) }
    if let exchange, !exchange.isAnswerOver { answer(exchange, core.broken) }
  }

  func clientClosed() {
    isOver = true
    if let exchange {
      finish(
        exchange,
        breakage.map { RPCStatus(.unavailable, "The proxy broke the connection: \($0)") }
          ?? RPCStatus(.cancelled, "The client closed the connection."))
    }
    let old = server
    (client, server, exchange) = (nil, nil, nil)
    old?.close()
    core.remove(number)
    core.tell(core.event(.disconnected, connection: number))
  }

  func clientFailed(_ error: any Error) {
    core.tell(connectionEvent("the client violated the HTTP protocol: \(error)"))
  }

  /// Closes the connection to the server. The server's response to the request is discarded.
  func leaveServer(_ exchange: HTTP1Exchange) {
    exchange.isAnswerOver = true
    exchange.toServer.drop()
    waiting = []
    let old = server
    server = nil
    old?.close()
    client?.setReading(true)
  }

  /// Answers in place of the server. The server's response is discarded, so its connection is closed.
  func answer(_ exchange: HTTP1Exchange, _ status: RPCStatus) {
    if exchange.isAnswerOver { return }
    leaveServer(exchange)
    exchange.status = status
    // Closing the connection is the only way to report a failure after a response head.
    if exchange.hasAnswerHead { return breakOff(because: status.message) }
    let (head, body) = PlainAnswer.http1(status, .http1_1)
    exchange.httpStatus = Int(head.status.code)
    deliver(.head(head), exchange, bytes: 0)
    deliver(.body(.byteBuffer(body)), exchange, bytes: 0)
    deliver(.end(nil), exchange, bytes: 0)
  }

  private func finishIfOver(_ exchange: HTTP1Exchange) {
    if exchange.isRequestOver, exchange.isAnswerDelivered { finish(exchange, exchange.status) }
  }

  private func finish(_ exchange: HTTP1Exchange, _ status: RPCStatus?) {
    guard self.exchange === exchange else { return }
    self.exchange = nil
    if let session = exchange.session, core.channels.backs[session] === self { core.channels.backs[session] = nil }
    exchange.toServer.drop()
    exchange.toClient.drop()
    var event = event(.ended, exchange)
    (event.status, event.httpStatus, event.bytes) = (status, exchange.httpStatus, exchange.answerBytes)
    event.duration = .nanoseconds((NIODeadline.now() - exchange.began).nanoseconds)
    core.tell(event)
  }

  func breakOff(because reason: String?) {
    if isOver { return }
    if let reason { core.tell(connectionEvent("broken: \(reason)")) }
    breakage = reason
    client?.close()
    if client == nil { clientClosed() }
  }

  func interrupt(_ lanes: [FaultLane], with status: RPCStatus) {
    if let exchange, lanes.contains(exchange.method.lane) { answer(exchange, status) }
  }

  func acceptToken() { token.accept() }

  func expireToken() {
    token.expire()
    if let exchange, exchange.method.isChannel { answer(exchange, ExpiredToken.status) }
  }

  // MARK: Telling

  private func tellRequest(_ exchange: HTTP1Exchange) {
    guard core.isHeard else { return }
    var event = event(.request, exchange)
    event.bytes = exchange.requestBytes
    event.message = exchange.summary(hasContent: core.contentLimit > 0)
    core.tell(event)
  }

  private func tellAnswer(_ bytes: ByteBuffer, _ exchange: HTTP1Exchange) {
    guard core.isHeard else { return }
    var event = event(.response, exchange)
    event.bytes = bytes.readableBytes
    core.tell(event)
  }

  private func event(_ kind: ProtocolEvent.Kind, _ exchange: HTTP1Exchange) -> ProtocolEvent {
    var event = core.event(kind, connection: number, stream: exchange.number, exchange.method)
    event.transport = exchange.method.isChannel ? .webchannel : exchange.method.kind == .other ? .http : .rest
    return event
  }

  func fault(_ remark: String, _ exchange: HTTP1Exchange) -> ProtocolEvent {
    var event = event(.fault, exchange)
    event.remark = remark
    return event
  }

  private func connectionEvent(_ remark: String) -> ProtocolEvent {
    var event = core.event(.connection, connection: number)
    event.remark = remark
    return event
  }
}
