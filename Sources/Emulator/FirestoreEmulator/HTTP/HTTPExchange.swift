// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreServer
import FirestoreService
import NIOCore
import NIOHTTP1

/// Serves HTTP requests for REST, WebChannel and emulator control, one after the other. It serves the requests of an
/// HTTP/1 connection (`HTTPRequestHandler`), or the single request of an HTTP/2 stream (`HTTPStream`).
///
/// ```
/// head, body … end ─┬─ REST, small and one step of the backend ──► answered immediately
///                   ├─ REST ──► a task: JSON is read and written off the connections' thread, piece by piece
///                   ├─ WebChannel ──► WebChannels, which answer immediately or stream while the client is connected
///                   └─ GET / · DELETE /emulator/v1/projects/P/databases/D/documents[/PATH] · OPTIONS /v1/…
/// ```
///
/// Nothing is read while a request is answered. An HTTP/1 connection ends if a request is rejected early or stalls.
final class HTTPExchange {
  struct Request {
    let head: HTTPRequestHead
    let wish: PlainRequest
    /// Whether a part of the response has been written.
    var hasBegun = false
    /// The status of the response, once it has begun.
    var status = 0
    /// The text of a response with the status 403.
    var rejection: String?
    let start = NIODeadline.now()

    init(_ received: HTTPRequestHead) {
      head = received.inOriginForm
      wish = PlainRequest(head)
    }

    /// Records the parts of a response that the log needs.
    mutating func note(_ answer: HTTPAnswer) {
      status = Int(answer.status.code)
      // The body of an error response is small.
      if status == 403 { rejection = String(buffer: answer.body) }
    }
  }

  private enum State {
    /// Waiting for a request. With `isFirst`, the client may have sent bytes but not a complete head.
    case waiting(isFirst: Bool)
    case receiving(Request)
    case answering(Request)
    /// The connection is closing, and further bytes are not read.
    case closing
  }

  /// The size limit of small requests and responses. Parsing and writing larger JSON would make other connections wait.
  static let smallBytes = 32 << 10
  /// The time that a client has to read a rejection while it is still sending.
  private static let lastPatience = TimeAmount.seconds(2)

  let service: FirestoreService
  let origins: ControlOrigins
  let channels: WebChannels
  let connection: HTTPConnection
  private let log: RequestLog?
  private var state = State.waiting(isFirst: true)
  /// The body of the request in progress.
  var body = ByteBuffer()
  /// The number of request bytes in the connection's budget.
  private var held = 0
  private var deadline: Scheduled<Void>?
  /// The carrier of the requests; `nil` after the last response.
  private(set) var carrier: (any HTTPCarrier)?
  var work: Task<Void, Never>?
  /// The streamed response, which can last as long as the client is connected.
  var streamed: StreamedAnswer?
  /// The request parts that arrived while another request was answered.
  private var pending: CircularBuffer<HTTPServerRequestPart> = []
  private var isTakingPending = false
  private var owesRead = false
  /// The parse error in the bytes after the pending parts.
  private var fault: HTTPParserError?
  /// Whether the server is shutting down.
  private var isLast = false

  /// - Parameter service: the service, whose backend runs on the event loop of the channel.
  init(
    _ service: FirestoreService, _ origins: ControlOrigins, _ channels: WebChannels, _ connection: HTTPConnection,
    log: RequestLog? = nil
  ) {
    self.service = service
    self.origins = origins
    self.channels = channels
    self.connection = connection
    self.log = log
  }

  // MARK: The carrier

  /// Begins on a carrier and retains it until `end`.
  func begin(on carrier: any HTTPCarrier) {
    self.carrier = carrier
    let loop = carrier.loop.assumeIsolated()
    // The connection ends only after the current write, which exceeded the budget.
    connection.budget?.open { [weak carrier] in loop.execute { carrier?.close(.all) } }
    wait()
  }

  func end() {
    deadline?.cancel()
    work?.cancel()
    abandon()
    connection.budget?.close()
    carrier = nil
  }

  /// Stops, because the client has disconnected.
  func lose() {
    work?.cancel()
    abandon()
    state = .closing
  }

  func resume() { streamed?.resume() }

  func receive(_ part: HTTPServerRequestPart) {
    connection.received?.explain(part)
    if case .answering = state { pending.append(part) } else { take(part) }
  }

  /// Ends the connection if too many of its received bytes are chunk framing. Call it after the received parts are
  /// processed.
  func check() {
    guard connection.received?.isMostlyFrame == true else { return }
    switch state {
    case .receiving(let request):
      refuse(HTTPAnswer(400, "Chunked body rejected: the chunks are too small.\n"), request)
    case .waiting, .answering: carrier?.close(.all)
    case .closing: break
    }
  }

  /// Whether to read more now. If not, `read` of the carrier is called later.
  func wantsMore() -> Bool {
    guard case .answering = state else { return true }
    owesRead = true
    return false
  }

  /// Handles an error in the received bytes.
  func receive(_ fault: HTTPParserError) {
    switch state {
    case .answering: self.fault = fault
    case .waiting, .receiving: refuse(fault)
    case .closing: break
    }
  }

  func shutDown() {
    isLast = true
    if case .waiting = state, connection.isWhole { carrier?.close(.all) }
    streamed?.shutDown()
  }

  /// Serves the pending parts.
  private func takePending() {
    if isTakingPending { return }
    isTakingPending = true
    defer { isTakingPending = false }
    while true {
      if case .answering = state { return }
      guard let part = pending.popFirst() else { break }
      take(part)
    }
    if let fault, case .waiting = state { return refuse(fault) }
    if owesRead {
      owesRead = false
      carrier?.read()
    }
  }

  // MARK: Requests

  private func take(_ part: HTTPServerRequestPart) {
    switch (part, state) {
    case (.head(let head), .waiting): begin(Request(head))
    case (.body(var bytes), .receiving(let request)):
      let count = bytes.readableBytes
      if body.readableBytes + count > ConnectionLimits.requestMessageBytes {
        return refuse(tooLarge(request.wish), request)
      }
      guard connection.budget?.addRequest(count) ?? true else {
        let status = RPCStatus(.resourceExhausted, "This connection's requests use too much memory.")
        return refuse(HTTPAnswer(status, to: request.wish), request)
      }
      held += count
      // The bytes are copied, so that they do not retain the whole read buffer.
      body.writeBuffer(&bytes)
      wait()
    case (.end, .receiving(let request)):
      deadline?.cancel()
      state = .answering(request)
      serve(request)
    default: break
    }
  }

  private func wait() {
    guard case .whole(_, let patience, _) = connection, let carrier else { return }
    deadline?.cancel()
    deadline = carrier.loop.assumeIsolated().scheduleTask(in: patience) { [weak self] in
      guard let self else { return }
      switch self.state {
      case .waiting(isFirst: true):
        self.refuse(HTTPAnswer(408, "The request is incomplete.\n"), nil)
      case .receiving(let request):
        self.refuse(HTTPAnswer(408, "The request is incomplete.\n"), request)
      case .waiting: self.carrier?.close(.all)
      case .answering, .closing: break
      }
    }
  }

  private func begin(_ request: Request) {
    let length = request.head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
    if length > ConnectionLimits.requestMessageBytes {
      state = .closing
      return refuse(tooLarge(request.wish), request)
    }
    // Several Host fields are rejected, since a proxy may have used a different one (RFC 9112 §3.2).
    let hosts = request.head.headers["host"].count
    if connection.isWhole, hosts > 1 || hosts == 0 && request.head.version == .http1_1 {
      return refuse(HTTPAnswer(400, "A request needs exactly one Host header.\n"), request)
    }
    state = .receiving(request)
    wait()
    if request.head.version == .http1_1, request.head.headers[canonicalForm: "expect"] == ["100-continue"] {
      let go = HTTPResponseHead(version: .http1_1, status: .continue)
      carrier?.write(go)
      carrier?.flush()
    }
  }

  private func tooLarge(_ request: PlainRequest) -> HTTPAnswer {
    let text = "Request payload size exceeds the limit: \(ConnectionLimits.requestMessageBytes) bytes."
    let answer = HTTPAnswer(RPCStatus(.invalidArgument, text), to: request, code: 413)
    let isAllowed = origins.objection(host: request.host, origin: request.origin) == nil
    return isAllowed ? answer.allowing(request.origin) : answer
  }

  // MARK: Answers

  /// Ends a request with a complete response.
  func answer(_ answer: HTTPAnswer) { end(answer) }

  /// Writes a piece of a response. The head is written before the first piece.
  /// - Returns: a future that completes when the piece is written; `nil` if the client has disconnected.
  func send(_ answer: HTTPAnswer) -> EventLoopFuture<Void>? {
    guard let carrier, case .answering(var request) = state else { return nil }
    let isFirst = !request.hasBegun
    request.hasBegun = true
    if isFirst, log != nil { request.note(answer) }
    state = .answering(request)
    if isFirst {
      let head = answer.head(isPersistent: isPersistent(request), request.head.version)
      carrier.write(head)
    }
    let bytes = answer.body.readableBytes
    guard bytes > 0, request.head.method != .HEAD else {
      carrier.flush()
      return carrier.loop.makeSucceededVoidFuture()
    }
    connection.budget?.addResponse(bytes)
    let written = carrier.write(answer.body)
    written.assumeIsolated().whenComplete { _ in self.connection.budget?.removeResponse(bytes) }
    return written
  }

  /// Writes the last piece of a response. The next request is served when the client has read most of the response.
  func end(_ answer: HTTPAnswer) {
    guard let carrier, case .answering(let request) = state else { return }
    guard let written = send(answer) else { return }
    if carrier.isWritable { return finish(request) }
    written.assumeIsolated().whenComplete { _ in self.finish(request) }
  }

  private func finish(_ request: Request) {
    guard let carrier, case .answering(let answered) = state else { return }
    letGo()
    work = nil
    report(answered)
    let isPersistent = isPersistent(request)
    state = isPersistent ? .waiting(isFirst: false) : .closing
    let written = carrier.end()
    if isPersistent {
      wait()
      takePending()
    } else if connection.isWhole {
      written.assumeIsolated().whenComplete { _ in carrier.close(.all) }
    }
  }

  private func report(_ request: Request) {
    log?(
      LoggedRequest(
        request.wish.method, request.wish.target, status: request.status, since: request.start,
        authorization: request.wish.authorization, rejection: request.rejection))
  }

  func letGo() {
    connection.budget?.removeRequest(held)
    (held, body) = (0, ByteBuffer())
  }

  private func isPersistent(_ request: Request) -> Bool {
    request.wish.isPersistent && !isLast && connection.isWhole
  }

  /// Ends a response with a status. If nothing has been written, the status is the whole response. Otherwise the status
  /// becomes the last element.
  func fail(_ status: RPCStatus) {
    guard case .answering(let request) = state else { return }
    let plain = request.wish
    if !request.hasBegun { return end(HTTPAnswer(status, to: plain).allowing(plain.origin)) }
    end(HTTPAnswer(streaming: RESTCall.end(with: status, to: plain.target)))
  }

  private func refuse(_ fault: HTTPParserError) {
    let isLarge = fault == .headerOverflow
    let request: Request? = if case .receiving(let request) = state { request } else { nil }
    let text = isLarge ? "The request's head is longer than 16 KiB.\n" : "This is neither HTTP nor gRPC without TLS.\n"
    refuse(HTTPAnswer(isLarge ? 431 : 400, text), request)
  }

  /// Responds to bytes that are not a complete request, and ends the connection.
  private func refuse(_ answer: HTTPAnswer, _ request: Request?) {
    letGo()
    deadline?.cancel()
    state = .closing
    guard let carrier else { return }
    if var request, log != nil {
      request.note(answer)
      report(request)
    }
    carrier.write(answer.head(isPersistent: false, request?.head.version ?? .http1_1))
    _ = carrier.write(answer.body)
    let written = carrier.end()
    // The stream ends after the response, and the rest of the request is dropped.
    guard connection.isWhole else { return }
    // The client might miss the response if the connection were closed while it is sending.
    let isSending = request != nil
    written.assumeIsolated().whenComplete { _ in carrier.close(isSending ? .output : .all) }
    deadline = carrier.loop.assumeIsolated().scheduleTask(in: Self.lastPatience) { carrier.close(.all) }
  }
}
