// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreService
import NIOCore
import NIOHTTP1

/// Serves requests of HTTP, one after the other: REST, and what controls an emulator. Those of a connection that speaks
/// HTTP/1, or the one of a stream of HTTP/2.
///
/// ```
/// head, body … end ─┬─ REST, small and one step of the backend ──► answered at once
///                   ├─ REST ──► a task: JSON is read and written off the connections' thread, piece by piece
///                   ├─ WebChannel ──► WebChannels, which answer at once or for as long as the client stays
///                   └─ GET / · DELETE /emulator/v1/projects/P/databases/D/documents[/PATH] · OPTIONS /v1/…
/// ```
///
/// While a request is answered nothing more is read. One that is refused before its end ends a connection of HTTP/1, and
/// so does one that does not go on.
final class HTTPRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private struct Request {
    let head: HTTPRequestHead
    let wish: PlainRequest
    /// Some of the answer has been written.
    var hasBegun = false

    init(_ head: HTTPRequestHead) {
      self.head = head
      wish = PlainRequest(head)
    }
  }

  private enum State {
    /// `isFirst`: the client has sent something, though no head so far.
    case waiting(isFirst: Bool)
    case receiving(Request)
    case answering(Request)
    /// What comes now is not read any more.
    case closing
  }

  /// Larger requests and answers are no small ones: reading and writing their JSON would keep other connections waiting.
  private static let smallBytes = 32 << 10
  /// For the client to read why it was refused while it sends.
  private static let lastPatience = TimeAmount.seconds(2)

  private let service: FirestoreService
  private let origins: ControlOrigins
  private let channels: WebChannels
  private let connection: HTTPConnection
  private var state = State.waiting(isFirst: true)
  /// Of the request that is being received.
  private var body = ByteBuffer()
  /// Bytes of requests that count at the connection's budget.
  private var held = 0
  private var deadline: Scheduled<Void>?
  private var context: ChannelHandlerContext?
  private var work: Task<Void, Never>?
  /// The one that goes on for as long as the client stays.
  private var streamed: StreamedAnswer?
  /// What came while a request was being answered.
  private var pending: CircularBuffer<HTTPServerRequestPart> = []
  private var isTakingPending = false
  private var owesRead = false
  /// What is wrong with the bytes behind the pending parts.
  private var fault: HTTPParserError?
  /// The server shuts down.
  private var isLast = false

  /// - Parameter service: its backend runs on the event loop of the channel.
  init(
    _ service: FirestoreService, _ origins: ControlOrigins, _ channels: WebChannels, _ connection: HTTPConnection
  ) {
    self.service = service
    self.origins = origins
    self.channels = channels
    self.connection = connection
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let channel = context.channel
    // Not in the middle of the write that was too much.
    connection.budget?.open { channel.eventLoop.execute { channel.close(promise: nil) } }
    wait(context)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    deadline?.cancel()
    work?.cancel()
    abandon()
    connection.budget?.close()
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    work?.cancel()
    abandon()
    state = .closing
    context.fireChannelInactive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { streamed?.resume() }
    context.fireChannelWritabilityChanged()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    if case .answering = state { pending.append(part) } else { receive(context, part) }
  }

  func read(context: ChannelHandlerContext) {
    if case .answering = state { owesRead = true } else { context.read() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let fault = error as? HTTPParserError else { return context.close(promise: nil) }
    switch state {
    case .answering: self.fault = fault
    case .waiting, .receiving: refuse(context, fault)
    case .closing: break
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent {
      isLast = true
      if case .waiting = state, connection.isWhole { context.close(promise: nil) }
      streamed?.shutDown()
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Serves what came in the meantime.
  private func takePending(_ context: ChannelHandlerContext) {
    if isTakingPending { return }
    isTakingPending = true
    defer { isTakingPending = false }
    while true {
      if case .answering = state { return }
      guard let part = pending.popFirst() else { break }
      receive(context, part)
    }
    if let fault, case .waiting = state { return refuse(context, fault) }
    if owesRead {
      owesRead = false
      context.read()
    }
  }

  // MARK: Requests

  private func receive(_ context: ChannelHandlerContext, _ part: HTTPServerRequestPart) {
    switch (part, state) {
    case (.head(let head), .waiting): begin(context, Request(head))
    case (.body(var bytes), .receiving(let request)):
      let count = bytes.readableBytes
      if body.readableBytes + count > ConnectionLimits.requestMessageBytes {
        return refuse(context, tooLarge(request.wish), request)
      }
      guard connection.budget?.addRequest(count) ?? true else {
        let status = RPCStatus(.resourceExhausted, "This connection's requests hold too much memory.")
        return refuse(context, HTTPAnswer(status, to: request.wish), request)
      }
      held += count
      // What is kept must not keep all that was read with it.
      body.writeBuffer(&bytes)
      wait(context)
    case (.end, .receiving(let request)):
      deadline?.cancel()
      state = .answering(request)
      serve(context, request)
    default: break
    }
  }

  private func wait(_ context: ChannelHandlerContext) {
    guard case .whole(_, let patience) = connection else { return }
    deadline?.cancel()
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { [weak self] in
      guard let self, let context = self.context else { return }
      switch self.state {
      case .waiting(isFirst: true):
        self.refuse(context, HTTPAnswer(408, "The request did not come to its end.\n"), nil)
      case .receiving(let request):
        self.refuse(context, HTTPAnswer(408, "The request did not come to its end.\n"), request)
      case .waiting: context.close(promise: nil)
      case .answering, .closing: break
      }
    }
  }

  private func begin(_ context: ChannelHandlerContext, _ request: Request) {
    let length = request.head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
    if length > ConnectionLimits.requestMessageBytes {
      state = .closing
      return refuse(context, tooLarge(request.wish), request)
    }
    state = .receiving(request)
    wait(context)
    if request.head.version == .http1_1, request.head.headers[canonicalForm: "expect"] == ["100-continue"] {
      let go = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(wrapOutboundOut(.head(go)), promise: nil)
    }
  }

  private func tooLarge(_ request: PlainRequest) -> HTTPAnswer {
    let text = "Request payload size exceeds the limit: \(ConnectionLimits.requestMessageBytes) bytes."
    let answer = HTTPAnswer(RPCStatus(.invalidArgument, text), to: request, code: 413)
    let isAllowed = origins.objection(host: request.host, origin: request.origin) == nil
    return isAllowed ? answer.allowing(request.origin) : answer
  }

  private func serve(_ context: ChannelHandlerContext, _ request: Request) {
    let plain = request.wish
    switch plain.wish {
    case .status: return answer(HTTPAnswer(200, "Ok\n"))
    case .unknown:
      return answer(
        HTTPAnswer(
          404,
          "There is no \(plain.method) \(plain.target) here. This is google.firestore.v1 over gRPC, and over REST below "
            + "/v1/projects/PROJECT/databases/DATABASE/documents; besides there are GET / and DELETE "
            + "/emulator/v1/projects/PROJECT/databases/DATABASE/documents, also followed by the path of a collection or "
            + "document.\n"))
    case .control, .rest, .channel, .preflight: break
    }
    let objection = origins.objection(host: plain.host, origin: plain.origin)
    switch (plain.wish, objection) {
    case (.rest, let objection?), (.channel, let objection?):
      answer(HTTPAnswer(RPCStatus(.permissionDenied, objection), to: plain).allowing(nil))
    case (_, let objection?): answer(HTTPAnswer(403, objection + "\n"))
    case (.preflight, nil): answer(HTTPAnswer(preflightOf: request.head).allowing(plain.origin))
    case (.control(let wish), nil): control(context, wish, plain)
    case (.channel, nil): channel(context, request)
    default: call(context, request)
    }
  }

  private func control(_ context: ChannelHandlerContext, _ wish: ControlRequest, _ plain: PlainRequest) {
    let promise = context.eventLoop.makePromise(of: HTTPAnswer.self)
    let (control, body) = (ControlWork(service, isLoopback: origins.isLoopback), Array(body.readableBytesView))
    promise.completeWithTask { await control.answer(wish, body, to: plain) }
    promise.futureResult.assumeIsolated().whenSuccess { self.answer($0) }
  }

  // MARK: WebChannel

  private func channel(_ context: ChannelHandlerContext, _ request: Request) {
    let (answer, body) = (StreamedAnswer(self, on: context.eventLoop), Array(body.readableBytesView))
    self.body = ByteBuffer()
    streamed = answer
    let caller = WebChannels.Caller(
      origin: request.wish.origin, address: (context.channel.parent ?? context.channel).remoteAddress?.ipAddress,
      authorization: request.head.headers.first(name: "authorization"))
    channels.serve(request.wish.method, request.wish.target, body, from: caller, to: answer)
  }

  var isWritable: Bool { context?.channel.isWritable ?? false }

  /// Writes a piece of the answer that goes on.
  func stream(_ piece: HTTPAnswer) { _ = send(piece) }

  func endStream(_ piece: HTTPAnswer) {
    streamed = nil
    end(piece)
  }

  private func abandon() {
    streamed?.abandon()
    streamed = nil
  }

  // MARK: REST

  private func call(_ context: ChannelHandlerContext, _ request: Request) {
    let (plain, body) = (request.wish, Array(body.readableBytesView))
    self.body = ByteBuffer()
    do throws(RPCStatus) {
      if body.count > Self.smallBytes { return work(context, plain, .request(body)) }
      let call = try RESTCall(plain.method, plain.target, body: body)
      let service = service.isRestricted ? try service.serving(as: plain.authorization) : service
      guard call.method.isPrompt, let messages = try service.answerAtOnce(call.method, call.message) else {
        return work(context, plain, .call(call))
      }
      if messages.reduce(0, { $0 + $1.count }) > Self.smallBytes {
        return work(context, plain, .messages(call, messages))
      }
      answer(try RESTWork.answer(call, messages, to: plain))
    } catch { answer(HTTPAnswer(error, to: plain).allowing(plain.origin)) }
  }

  private func work(_ context: ChannelHandlerContext, _ plain: PlainRequest, _ start: RESTWork.Start) {
    let loop = context.eventLoop
    let handler = NIOLoopBound(self, eventLoop: loop)
    let rest = RESTWork(service, plain)
    work = Task {
      do {
        try await rest.run(start) { piece in
          // Waits while the client does not read.
          try await loop.flatSubmit {
            handler.value.take(piece) ?? loop.makeFailedFuture(ChannelError.ioOnClosedChannel)
          }.get()
        }
      } catch {
        let status = error as? RPCStatus ?? RPCStatus(.internal, "The request could not be answered: \(error).")
        loop.execute { handler.value.fail(status) }
      }
    }
  }

  /// - Returns: when it is written; `nil` if nobody is left to read it.
  private func take(_ piece: RESTWork.Piece) -> EventLoopFuture<Void>? {
    switch piece {
    case .part(let answer): return send(answer)
    case .last(let answer):
      guard let context else { return nil }
      end(answer)
      return context.eventLoop.makeSucceededVoidFuture()
    }
  }

  // MARK: Answers

  /// Ends a request with an answer that is there as a whole.
  private func answer(_ answer: HTTPAnswer) { end(answer) }

  /// Writes a piece of an answer, and before the first its head.
  /// - Returns: when it is written; `nil` if nobody is left to read it.
  private func send(_ answer: HTTPAnswer) -> EventLoopFuture<Void>? {
    guard let context, case .answering(var request) = state else { return nil }
    let isFirst = !request.hasBegun
    request.hasBegun = true
    state = .answering(request)
    if isFirst {
      let head = answer.head(isPersistent: isPersistent(request), request.head.version)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
    }
    let bytes = answer.body.readableBytes
    guard bytes > 0, request.head.method != .HEAD else {
      context.flush()
      return context.eventLoop.makeSucceededVoidFuture()
    }
    connection.budget?.addResponse(bytes)
    let written = context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(answer.body))))
    written.assumeIsolated().whenComplete { _ in _ = self.connection.budget?.removeResponse(bytes) }
    return written
  }

  /// Writes the last piece of an answer. The next request is served when the client has read most of it.
  private func end(_ answer: HTTPAnswer) {
    guard let context, case .answering(let request) = state else { return }
    guard let written = send(answer) else { return }
    if context.channel.isWritable { return finish(request) }
    written.assumeIsolated().whenComplete { _ in self.finish(request) }
  }

  private func finish(_ request: Request) {
    guard let context, case .answering = state else { return }
    letGo()
    work = nil
    let isPersistent = isPersistent(request)
    state = isPersistent ? .waiting(isFirst: false) : .closing
    let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
    if isPersistent {
      wait(context)
      takePending(context)
    } else if connection.isWhole {
      written.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }
  }

  private func letGo() {
    connection.budget?.removeRequest(held)
    (held, body) = (0, ByteBuffer())
  }

  private func isPersistent(_ request: Request) -> Bool {
    request.wish.isPersistent && !isLast && connection.isWhole
  }

  /// Ends an answer with a status: it says so if nothing has been written, and in its last element otherwise.
  private func fail(_ status: RPCStatus) {
    guard case .answering(let request) = state else { return }
    let plain = request.wish
    if !request.hasBegun { return end(HTTPAnswer(status, to: plain).allowing(plain.origin)) }
    end(HTTPAnswer(streaming: RESTCall.end(with: status, to: plain.target)))
  }

  private func refuse(_ context: ChannelHandlerContext, _ fault: HTTPParserError) {
    let isLarge = fault == .headerOverflow
    let request: Request? = if case .receiving(let request) = state { request } else { nil }
    let text = isLarge ? "The request's head is longer than 16 KiB.\n" : "This is neither HTTP nor gRPC without TLS.\n"
    refuse(context, HTTPAnswer(isLarge ? 431 : 400, text), request)
  }

  /// Answers what is not a request, or not one to its end, and ends the connection.
  private func refuse(_ context: ChannelHandlerContext, _ answer: HTTPAnswer, _ request: Request?) {
    letGo()
    deadline?.cancel()
    state = .closing
    let head = answer.head(isPersistent: false, request?.head.version ?? .http1_1)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
    let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
    // A stream ends when its client has, whose rest is dropped.
    guard connection.isWhole else { return }
    // Closed while it sends, the client might never see the answer.
    let isSending = request != nil
    let channel = context.channel
    written.whenComplete { _ in channel.close(mode: isSending ? .output : .all, promise: nil) }
    deadline = context.eventLoop.scheduleTask(in: Self.lastPatience) { channel.close(promise: nil) }
  }
}
