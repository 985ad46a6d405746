// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreServer
import FirestoreService
import NIOCore
import NIOHTTP1

/// Serves requests of HTTP, one after the other: REST, and the control of an emulator. The requests are those of a
/// connection that speaks HTTP/1 (`HTTPRequestHandler`), or the one of a stream of HTTP/2 (`HTTPStream`).
///
/// ```
/// head, body … end ─┬─ REST, small and one step of the backend ──► answered at once
///                   ├─ REST ──► a task: JSON is read and written off the connections' thread, piece by piece
///                   ├─ WebChannel ──► WebChannels, which answer at once or for as long as the client stays
///                   └─ GET / · DELETE /emulator/v1/projects/P/databases/D/documents[/PATH] · OPTIONS /v1/…
/// ```
///
/// While a request is answered nothing more is read. A request that is refused before its end ends a connection of
/// HTTP/1, and so does one that does not go on.
final class HTTPExchange {
  struct Request {
    let head: HTTPRequestHead
    let wish: PlainRequest
    /// Whether a part of the answer has been written.
    var hasBegun = false

    init(_ received: HTTPRequestHead) {
      head = received.inOriginForm
      wish = PlainRequest(head)
    }
  }

  private enum State {
    /// No request is there; `isFirst`: the client may have sent something, though no head so far.
    case waiting(isFirst: Bool)
    case receiving(Request)
    case answering(Request)
    /// The connection ends, and further bytes are not read.
    case closing
  }

  /// The size up to which requests and answers are small: reading and writing larger JSON would keep other connections
  /// waiting.
  static let smallBytes = 32 << 10
  /// The time for the client to read why it was refused while it sends.
  private static let lastPatience = TimeAmount.seconds(2)

  let service: FirestoreService
  let origins: ControlOrigins
  let channels: WebChannels
  let connection: HTTPConnection
  private var state = State.waiting(isFirst: true)
  /// The body of the request that is being received.
  var body = ByteBuffer()
  /// The number of bytes of requests that count at the connection's budget.
  private var held = 0
  private var deadline: Scheduled<Void>?
  /// `nil` when nothing is said any more.
  private(set) var carrier: (any HTTPCarrier)?
  var work: Task<Void, Never>?
  /// The answer that goes on for as long as the client stays.
  var streamed: StreamedAnswer?
  /// The parts of requests that came while another one was being answered.
  private var pending: CircularBuffer<HTTPServerRequestPart> = []
  private var isTakingPending = false
  private var owesRead = false
  /// The error in the bytes behind the pending parts.
  private var fault: HTTPParserError?
  /// Whether the server shuts down.
  private var isLast = false

  /// - Parameter service: the service, whose backend runs on the event loop of the channel.
  init(
    _ service: FirestoreService, _ origins: ControlOrigins, _ channels: WebChannels, _ connection: HTTPConnection
  ) {
    self.service = service
    self.origins = origins
    self.channels = channels
    self.connection = connection
  }

  // MARK: The carrier

  /// Begins, on a carrier that is held until `end`.
  func begin(on carrier: any HTTPCarrier) {
    self.carrier = carrier
    let loop = carrier.loop.assumeIsolated()
    // The end waits for the end of the write that was too much.
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

  /// Stops, because the client is gone.
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

  /// Looks at the bytes that have come, after their parts were taken.
  func check() {
    guard connection.received?.isMostlyFrame == true else { return }
    switch state {
    case .receiving(let request):
      refuse(HTTPAnswer(400, "The chunks of the request are more frame than content.\n"), request)
    case .waiting, .answering: carrier?.close(.all)
    case .closing: break
    }
  }

  /// Whether more is to be read now; if not, the carrier is told when.
  func wantsMore() -> Bool {
    guard case .answering = state else { return true }
    owesRead = true
    return false
  }

  /// Takes an error in the bytes that have come.
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

  /// Serves the parts that came in the meantime.
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
        let status = RPCStatus(.resourceExhausted, "This connection's requests hold too much memory.")
        return refuse(HTTPAnswer(status, to: request.wish), request)
      }
      held += count
      // Copied bytes do not keep alive the whole buffer that was read.
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
        self.refuse(HTTPAnswer(408, "The request did not come to its end.\n"), nil)
      case .receiving(let request):
        self.refuse(HTTPAnswer(408, "The request did not come to its end.\n"), request)
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
    // A proxy on the way may have taken another of the Host fields for the name (RFC 9112 §3.2).
    let hosts = request.head.headers["host"].count
    if connection.isWhole, hosts > 1 || hosts == 0 && request.head.version == .http1_1 {
      return refuse(HTTPAnswer(400, "A request has one Host.\n"), request)
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

  /// Ends a request with an answer that is complete.
  func answer(_ answer: HTTPAnswer) { end(answer) }

  /// Writes a piece of an answer, and before the first its head.
  /// - Returns: when it is written; `nil` if no client is left to read it.
  func send(_ answer: HTTPAnswer) -> EventLoopFuture<Void>? {
    guard let carrier, case .answering(var request) = state else { return nil }
    let isFirst = !request.hasBegun
    request.hasBegun = true
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

  /// Writes the last piece of an answer. The next request is served when the client has read most of it.
  func end(_ answer: HTTPAnswer) {
    guard let carrier, case .answering(let request) = state else { return }
    guard let written = send(answer) else { return }
    if carrier.isWritable { return finish(request) }
    written.assumeIsolated().whenComplete { _ in self.finish(request) }
  }

  private func finish(_ request: Request) {
    guard let carrier, case .answering = state else { return }
    letGo()
    work = nil
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

  func letGo() {
    connection.budget?.removeRequest(held)
    (held, body) = (0, ByteBuffer())
  }

  private func isPersistent(_ request: Request) -> Bool {
    request.wish.isPersistent && !isLast && connection.isWhole
  }

  /// Ends an answer with a status: as the whole answer if nothing has been written, and in its last element otherwise.
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

  /// Answers bytes that are no request, or not a whole one, and ends the connection.
  private func refuse(_ answer: HTTPAnswer, _ request: Request?) {
    letGo()
    deadline?.cancel()
    state = .closing
    guard let carrier else { return }
    carrier.write(answer.head(isPersistent: false, request?.head.version ?? .http1_1))
    _ = carrier.write(answer.body)
    let written = carrier.end()
    // A stream ends when its client has ended it; the rest of the request is dropped.
    guard connection.isWhole else { return }
    // The client might never see the answer if the connection closed while it sends.
    let isSending = request != nil
    written.assumeIsolated().whenComplete { _ in carrier.close(isSending ? .output : .all) }
    deadline = carrier.loop.assumeIsolated().scheduleTask(in: Self.lastPatience) { carrier.close(.all) }
  }
}
