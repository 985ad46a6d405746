// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import FirestoreServer
import NIOCore
import NIOHPACK
import NIOHTTP2

/// A client's connection over HTTP/2, and those to the server on which its streams go on. Bytes are passed on frame by
/// frame; each side may send more when the other one has taken them.
final class HTTP2Bridge: ProxiedConnection {
  let core: ProxyCore
  private(set) var number = 0
  private(set) var client: FrameHandler?
  private var upstream: Upstream?
  private var upstreams: [Upstream] = []
  private var streams: [HTTP2StreamID: BridgedStream] = [:]
  private var token = ExpiredToken()
  private var isOver = false

  init(_ core: ProxyCore) { self.core = core }

  /// Adds the handlers at the end of a client's pipeline.
  func begin(on channel: any Channel) throws {
    number = core.add(self)
    let handler = FrameHandler { [weak self] in self?.hearClient($0) }
    client = handler
    try channel.pipeline.syncOperations.addHandlers(FrameHandler.http2(.server), handler)
  }

  // MARK: The client

  private func hearClient(_ news: FrameHandler.News) {
    switch news {
    case .frame(let frame): receive(frame)
    case .streamClosed(let id, let reason): if reason != nil, let stream = streams[id] { abandon(stream, .cancel) }
    case .failed(let error): core.tell(connectionEvent("the client broke the rules of HTTP/2: \(error)"))
    case .closed:
      for stream in Array(streams.values) { abandon(stream, .cancel) }
      for upstream in upstreams { upstream.handler?.close() }
      (isOver, client, upstream, upstreams) = (true, nil, nil, [])
      core.remove(number)
    }
  }

  private func receive(_ frame: HTTP2Frame) {
    switch frame.payload {
    case .headers(let headers):
      if let stream = streams[frame.streamID] {
        stream.isRequestOver = stream.isRequestOver || headers.endStream
        toServer(stream, bytes: 0) { handler, id in handler.send(id, .headers(headers)) }
      } else {
        open(frame.streamID, headers)
      }
    case .data(let data):
      guard case .byteBuffer(let bytes) = data.data else { return }
      let size = bytes.readableBytes + (data.paddingBytes.map { $0 + 1 } ?? 0)
      guard let stream = streams[frame.streamID], !stream.isAnswerOver else {
        client?.credit(size, frame.streamID, isOpen: false)
        return
      }
      if data.endStream { stream.isRequestOver = true }
      if stream.isAssembled {
        receiveMessages(stream, bytes, size, isLast: data.endStream)
      } else {
        if core.isHeard { for message in stream.counted.messages(in: bytes) { tell(.request, message, of: stream) } }
        pass(stream, bytes, isLast: data.endStream, owed: size)
      }
    case .rstStream(let code): if let stream = streams[frame.streamID] { abandon(stream, code) }
    default: break
    }
  }

  private func open(_ id: HTTP2StreamID, _ head: HTTP2Frame.FramePayload.Headers) {
    let headers = head.headers
    let method = ProxiedMethod(headers.first(name: ":method") ?? "", headers.first(name: ":path") ?? "")
    let isGRPC = headers.first(name: "content-type")?.hasPrefix("application/grpc") == true
    let stream = BridgedStream(core.nextStream(), id, method, isGRPC: isGRPC, on: core.loop)
    stream.isRequestOver = head.endStream
    streams[id] = stream
    core.tell(event(.opened, stream))
    if token.refuses(headers.first(name: "authorization")) { return answer(stream, ExpiredToken.status) }
    if core.isDown(method.lane) {
      return answer(stream, RPCStatus(.unavailable, "The backend cannot be reached: the proxy was told \"down\"."))
    }
    if method.kind == .read, let code = core.faults.takeReadFault() {
      core.tell(fault("the read is refused: \(code.name)", stream))
      return answer(stream, RPCStatus(code, "The read was refused by an injected fault."))
    }
    var passed = head
    if core.target.isTLS { passed.headers = core.addressed(head.headers) }
    guard let pace = core.pace(method.lane, bytes: 0, isAnswer: false) else { return stream.toServer.send(nil) {} }
    stream.toServer.send(pace) { [weak self] in self?.begin(stream, passed) }
  }

  // MARK: Requests

  /// Takes bytes of requests on which faults may decide: each message is passed on when it is whole.
  private func receiveMessages(_ stream: BridgedStream, _ bytes: ByteBuffer, _ size: Int, isLast: Bool) {
    stream.requests.append(bytes, owed: size)
    var messages: [ByteBuffer] = []
    do throws(RPCStatus) {
      while let message = try stream.requests.next(limit: ConnectionLimits.requestMessageBytes) {
        messages.append(message)
      }
    } catch { return answer(stream, error) }
    let rest = stream.requests.size
    for (index, message) in messages.enumerated() {
      let owed = stream.requests.settle(message.readableBytes)
      let passed = decide(on: message, of: stream)
      if isOver || stream.isAnswerOver { return }
      guard let passed else {
        client?.credit(owed, stream.clientID, isOpen: !isLast)
        continue
      }
      pass(stream, passed, isLast: isLast && rest == 0 && index == messages.count - 1, owed: owed)
    }
    if isLast, rest > 0 || messages.isEmpty {
      pass(stream, stream.requests.takeRest(), isLast: true, owed: 0)
    } else {
      // The rest of a message would never come if the client had to wait for room.
      client?.credit(stream.requests.settle(Int.max), stream.clientID, isOpen: !isLast)
    }
  }

  private func pass(_ stream: BridgedStream, _ bytes: ByteBuffer, isLast: Bool, owed: Int) {
    toServer(stream, bytes: bytes.readableBytes) { [weak self] handler, id in
      handler.send(id, .data(.init(data: .byteBuffer(bytes), endStream: isLast))) {
        self?.client?.credit(owed, stream.clientID, isOpen: !isLast && !stream.isOver)
      }
    }
  }

  /// Decides on a message of a request.
  /// - Returns: the message as it is passed on; `nil` if it is not.
  private func decide(on message: ByteBuffer, of stream: BridgedStream) -> ByteBuffer? {
    var counter = MessageCounter()
    guard let counted = counter.messages(in: message).first else { return message }
    let judge = RequestJudge(core.faults, stream.method)
    tell(.request, counted, of: stream)
    switch judge.verdict(on: counted) {
    case .pass: return message
    case .replace(let content):
      core.tell(fault("the resume token is taken out", stream))
      return GRPCMessage.buffer(content)
    case .passWrite(let losesAnswer):
      stream.losses.append(losesAnswer)
      if losesAnswer { core.tell(fault("the write is passed on, its answer will be lost", stream)) }
      return message
    case .lose:
      core.tell(fault("the write is lost", stream))
      breakOff(because: "a write is lost on purpose")
      return nil
    case .refuse(let status):
      core.tell(fault("the write is refused: \(status.code.name)", stream))
      answer(stream, status)
      return nil
    case .refuseTarget(let answer, let code):
      core.tell(fault("the listener is refused: \(code.name)", stream))
      toClient(stream, bytes: answer.readableBytes) { client in
        if !stream.hasAnswerHead { client.send(stream.clientID, .headers(.init(headers: GRPCFraming.headers))) }
        stream.hasAnswerHead = true
        client.send(stream.clientID, .data(.init(data: .byteBuffer(answer))))
      }
      return nil
    }
  }

  // MARK: The server

  private func begin(_ stream: BridgedStream, _ head: HTTP2Frame.FramePayload.Headers) {
    if stream.isOver || isOver { return }
    let upstream = current()
    stream.upstream = upstream
    whenOpen(upstream) {
      guard !stream.isOver, let handler = upstream.handler else { return }
      let id = upstream.nextID()
      stream.serverID = id
      upstream.streams[id] = stream
      handler.send(id, .headers(head))
    }
  }

  /// Sends something to the server, after what was sent before it.
  private func toServer(
    _ stream: BridgedStream, bytes: Int, _ send: @escaping (FrameHandler, HTTP2StreamID) -> Void
  ) {
    stream.toServer.send(core.pace(stream.method.lane, bytes: bytes, isAnswer: false)) { [weak self] in
      guard let self, let upstream = stream.upstream else { return }
      self.whenOpen(upstream) {
        if !stream.isOver, let handler = upstream.handler, let id = stream.serverID { send(handler, id) }
      }
    }
  }

  private func whenOpen(_ upstream: Upstream, _ act: @escaping () -> Void) {
    if upstream.state == .connecting { upstream.waiting.append(act) } else { act() }
  }

  private func current() -> Upstream {
    if let upstream, !upstream.isRetiring, upstream.state != .closed { return upstream }
    let fresh = Upstream()
    (upstream, upstreams) = (fresh, upstreams.filter { $0.state != .closed } + [fresh])
    core.connect { [weak self] channel in
      let handler = FrameHandler { self?.hear($0, from: fresh) }
      try channel.pipeline.syncOperations.addHandlers(FrameHandler.http2(.client), handler)
    }
    .assumeIsolated().whenComplete { [weak self] result in
      guard let self else { return }
      // A connection is announced before its handlers have greeted.
      core.loop.assumeIsolated().execute { self.hear(result, of: fresh) }
    }
    return fresh
  }

  private func hear(_ result: Result<any Channel, any Error>, of fresh: Upstream) {
    let waiting = fresh.waiting
    fresh.waiting = []
    switch result {
    case .success(let channel):
      guard !isOver else { return channel.close(promise: nil) }
      guard channel.isActive, let handler = try? channel.pipeline.syncOperations.handler(type: FrameHandler.self) else {
        return fail(fresh, core.broken)
      }
      (fresh.handler, fresh.state) = (handler, .open)
      for act in waiting { act() }
    case .failure(let error): fail(fresh, core.unreachable(error))
    }
  }

  private func fail(_ upstream: Upstream, _ status: RPCStatus) {
    upstream.state = .closed
    upstreams.removeAll { $0 === upstream }
    for stream in Array(streams.values) where stream.upstream === upstream { answer(stream, status) }
  }

  private func hear(_ news: FrameHandler.News, from upstream: Upstream) {
    switch news {
    case .frame(let frame): receive(frame, from: upstream)
    case .streamClosed(let id, let reason):
      guard let stream = upstream.streams.removeValue(forKey: id), let reason, !stream.isAnswerOver else { return }
      end(stream, with: reason)
    case .failed(let error): core.tell(connectionEvent("\(core.target.text) broke the rules of HTTP/2: \(error)"))
    // A connection to one of a host's addresses may end that was never used.
    case .closed: if upstream.state == .open, upstream.handler?.isClosed == true { fail(upstream, core.broken) }
    }
  }

  private func receive(_ frame: HTTP2Frame, from upstream: Upstream) {
    if case .goAway = frame.payload {
      upstream.isRetiring = true
      return
    }
    guard let stream = upstream.streams[frame.streamID], !stream.isAnswerOver else {
      if case .data(let data) = frame.payload {
        upstream.handler?.credit(data.data.readableBytes, frame.streamID, isOpen: false)
      }
      return
    }
    switch frame.payload {
    case .headers(let headers):
      if stream.method.kind == .commit, stream.losses.first == true { return loseAnswer(of: stream) }
      if headers.endStream { stream.isAnswerOver = true }
      toClient(stream, bytes: 0) { [weak self] client in
        // The head may have been sent already, before an answer of the proxy's own.
        if headers.endStream || !stream.hasAnswerHead { client.send(stream.clientID, .headers(headers)) }
        stream.hasAnswerHead = true
        if headers.endStream { self?.finish(stream, RPCStatus(trailers: headers.headers), headers.headers) }
      }
    case .data(let data): receive(data, of: stream, from: upstream)
    case .rstStream(let code): end(stream, with: code)
    default: break
    }
  }

  private func receive(_ data: HTTP2Frame.FramePayload.Data, of stream: BridgedStream, from upstream: Upstream) {
    guard case .byteBuffer(let bytes) = data.data, let id = stream.serverID else { return }
    let size = bytes.readableBytes + (data.paddingBytes.map { $0 + 1 } ?? 0)
    stream.answerBytes += bytes.readableBytes
    let isListen = stream.method.kind == .listen
    if stream.isGRPC, core.isHeard || stream.method.kind == .writes || isListen && core.faults.hasForgottenTokens {
      for message in stream.answers.messages(in: bytes) {
        if stream.losesAnswer() { return loseAnswer(of: stream) }
        if isListen { core.faults.note(tokens: RequestJudge.tokens(inResponse: message.content)) }
        tell(.answer, message, of: stream)
      }
    }
    if data.endStream { stream.isAnswerOver = true }
    toClient(stream, bytes: bytes.readableBytes) { [weak self] client in
      client.send(stream.clientID, .data(.init(data: .byteBuffer(bytes), endStream: data.endStream))) {
        upstream.handler?.credit(size, id, isOpen: !data.endStream && !stream.isOver)
      }
      if data.endStream { self?.finish(stream, nil, [:]) }
    }
  }

  private func loseAnswer(of stream: BridgedStream) {
    core.tell(fault("the answer is lost", stream))
    breakOff(because: "an answer is lost on purpose")
  }

  private func toClient(_ stream: BridgedStream, bytes: Int, _ send: @escaping (FrameHandler) -> Void) {
    stream.toClient.send(core.pace(stream.method.lane, bytes: bytes, isAnswer: true)) { [weak self] in
      if !stream.isOver, let client = self?.client { send(client) }
    }
  }

  // MARK: Ends

  /// Answers in place of the server, which hears no more of the stream.
  private func answer(_ stream: BridgedStream, _ status: RPCStatus) {
    if stream.isAnswerOver { return }
    stream.isAnswerOver = true
    forget(stream, .cancel)
    toClient(stream, bytes: 0) { [weak self] client in
      if stream.isGRPC {
        let trailers = GRPCFraming.ending(status, hasHeaders: stream.hasAnswerHead)
        client.send(stream.clientID, .headers(.init(headers: trailers, endStream: true)))
      } else {
        let (headers, body) = PlainAnswer.http2(status)
        if !stream.hasAnswerHead { client.send(stream.clientID, .headers(.init(headers: headers))) }
        client.send(stream.clientID, .data(.init(data: .byteBuffer(body), endStream: true)))
      }
      if !stream.isRequestOver { client.reset(stream.clientID, .noError) }
      self?.finish(stream, status, [:])
    }
  }

  /// Ends a stream as the server did.
  private func end(_ stream: BridgedStream, with code: HTTP2ErrorCode) {
    stream.isAnswerOver = true
    toClient(stream, bytes: 0) { [weak self] client in
      client.reset(stream.clientID, code)
      self?.finish(stream, RPCStatus(.unavailable, "\(self?.core.target.text ?? "") ended the stream: \(code)"), [:])
    }
  }

  private func finish(_ stream: BridgedStream, _ status: RPCStatus?, _ headers: HPACKHeaders) {
    if stream.isOver { return }
    stream.isOver = true
    streams[stream.clientID] = nil
    if stream.isRequestOver { stream.toServer.drop() } else { forget(stream, .cancel) }
    if !stream.isRequestOver { client?.reset(stream.clientID, .noError) }
    if !core.isHeard { return }
    var event = event(.ended, stream)
    (event.status, event.bytes) = (status ?? RPCStatus(.ok, ""), stream.answerBytes)
    event.httpStatus = stream.isGRPC ? nil : headers.first(name: ":status").flatMap { Int($0) }
    event.duration = .nanoseconds((NIODeadline.now() - stream.began).nanoseconds)
    core.tell(event)
  }

  /// Ends a stream that the client has given up.
  private func abandon(_ stream: BridgedStream, _ code: HTTP2ErrorCode) {
    stream.isAnswerOver = true
    forget(stream, code)
    stream.toClient.drop()
    stream.isRequestOver = true
    finish(stream, RPCStatus(.cancelled, "The client ended the stream."), [:])
  }

  private func forget(_ stream: BridgedStream, _ code: HTTP2ErrorCode) {
    stream.toServer.drop()
    guard let id = stream.serverID, stream.upstream?.streams.removeValue(forKey: id) != nil else { return }
    stream.upstream?.handler?.reset(id, code)
  }

  func breakOff(because reason: String?) {
    if isOver { return }
    if let reason { core.tell(connectionEvent("broken: \(reason)")) }
    isOver = true
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
