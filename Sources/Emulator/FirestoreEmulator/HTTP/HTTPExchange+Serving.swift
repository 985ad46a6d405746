// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreModel
import FirestoreREST
import FirestoreServer
import FirestoreService
import NIOCore
import NIOHTTP1
import Synchronization

/// Selects the handler of a complete request.
extension HTTPExchange {
  func serve(_ request: Request) {
    let plain = request.wish
    switch plain.wish {
    case .status: return answer(HTTPAnswer(200, "Ok\n"))
    case .unknown:
      return answer(
        HTTPAnswer(
          404,
          "Unknown request \(plain.method) \(plain.target). This is google.firestore.v1 over gRPC, over REST below "
            + "/v1/projects/PROJECT/databases, and over WebChannel. Other requests: GET / and /health, DELETE "
            + "/emulator/v1/projects/PROJECT/databases/DATABASE/documents, also followed by the path of a collection or "
            + "document, below /emulator/v1/projects/PROJECT :securityRules, :ruleCoverage, :requests, :indexes and :export, "
            + "/requests, POST /reset and POST /shutdown.\n"))
    case .control, .rest, .channel, .preflight, .monitor: break
    }
    var objection = origins.objection(host: plain.host, origin: plain.origin, isControl: plain.isControl)
    if objection == nil, plain.isControl, plain.wish != .preflight { objection = origins.controlObjection(plain) }
    switch (plain.wish, objection) {
    case (.rest, let objection?), (.channel, let objection?):
      answer(HTTPAnswer(RPCStatus(.permissionDenied, objection), to: plain).allowing(nil))
    case (_, let objection?): answer(HTTPAnswer(403, objection + "\n"))
    case (.preflight, nil): answer(HTTPAnswer(preflightOf: request.head).allowing(plain.origin))
    case (.control(let wish), nil): control(wish, plain)
    case (.channel, nil): channel(request)
    case (.monitor, nil): monitor(request)
    default: call(request)
    }
  }

  private func control(_ wish: ControlRequest, _ plain: PlainRequest) {
    guard let carrier else { return }
    let promise = carrier.loop.makePromise(of: HTTPAnswer.self)
    let (control, body) = (ControlWork(service, origins), Array(body.readableBytesView))
    promise.completeWithTask { await control.answer(wish, body, to: plain) }
    promise.futureResult.assumeIsolated().whenSuccess { self.answer($0.allowing(plain.origin)) }
  }

  // MARK: Monitor

  private func monitor(_ request: Request) {
    guard let rules = service.securityRules, connection.isWhole else {
      return answer(HTTPAnswer(404, "Rule decisions are only available over HTTP/1.1, on a server that has a port.\n"))
    }
    guard request.head.headers.contains(name: "sec-websocket-key") else {
      return answer(HTTPAnswer(426, "Rule decisions are only available over a WebSocket.\n"))
    }
    if let refusal = ControlWork(service, origins).refusal(of: request.wish.authorization) {
      return answer(HTTPAnswer(refusal, to: request.wish))
    }
    guard let handler = carrier as? HTTPRequestHandler else { return }
    letGo()
    handler.upgrade(request.head, rules)
  }

  // MARK: WebChannel

  private func channel(_ request: Request) {
    guard let carrier else { return }
    let (answer, body) = (StreamedAnswer(self, on: carrier.loop), Array(body.readableBytesView))
    self.body = ByteBuffer()
    streamed = answer
    let caller = WebChannels.Caller(
      origin: request.wish.origin, address: carrier.address,
      authorization: request.head.headers.first(name: "authorization"))
    channels.serve(request.wish.method, request.wish.target, body, from: caller, to: answer)
  }

  var isWritable: Bool { carrier?.isWritable ?? false }

  /// Writes a piece of a streamed response.
  func stream(_ piece: HTTPAnswer) { _ = send(piece) }

  func endStream(_ piece: HTTPAnswer) {
    streamed = nil
    end(piece)
  }

  func abandon() {
    streamed?.abandon()
    streamed = nil
  }

  // MARK: REST

  private func call(_ request: Request) {
    let (plain, body) = (request.wish, Array(body.readableBytesView))
    self.body = ByteBuffer()
    if let call = DatabasesCall(plain.method, plain.target) { return databases(call, plain) }
    do throws(RPCStatus) {
      if let call = DeploymentCall(plain.method, plain.target) {
        let text = try call.answer(by: try service.serving(as: plain.authorization))
        return answer(HTTPAnswer(200, json: text).allowing(plain.origin))
      }
      if body.count > Self.smallBytes { return work(plain, .request(body)) }
      let call = try RESTCall(plain.method, plain.target, body: body)
      let service = service.isRestricted ? try service.serving(as: plain.authorization) : service
      guard call.method.isPrompt, let messages = try service.answerAtOnce(call.method, call.message) else {
        return work(plain, .call(call))
      }
      if messages.reduce(0, { $0 + $1.count }) > Self.smallBytes {
        return work(plain, .messages(call, messages))
      }
      answer(try RESTWork.answer(call, messages, to: plain))
    } catch { answer(HTTPAnswer(error, to: plain).allowing(plain.origin)) }
  }

  private func databases(_ call: DatabasesCall, _ plain: PlainRequest) {
    guard let carrier else { return }
    let promise = carrier.loop.makePromise(of: HTTPAnswer.self)
    let service = service
    promise.completeWithTask {
      do throws(RPCStatus) {
        let text = try await call.answer(by: try service.serving(as: plain.authorization))
        return HTTPAnswer(200, json: text)
      } catch { return HTTPAnswer(error, to: plain) }
    }
    promise.futureResult.assumeIsolated().whenSuccess { self.answer($0.allowing(plain.origin)) }
  }

  private func work(_ plain: PlainRequest, _ start: RESTWork.Start) {
    guard let carrier else { return }
    let loop = carrier.loop
    let exchange = NIOLoopBound(self, eventLoop: loop)
    let rest = RESTWork(service, plain, connection.reads)
    work = Task {
      do {
        try await rest.run(start) { piece in
          // The task waits here while the client does not read.
          try await loop.flatSubmit {
            exchange.value.take(piece) ?? loop.makeFailedFuture(ChannelError.ioOnClosedChannel)
          }.get()
        }
      } catch {
        let status = error as? RPCStatus ?? RPCStatus(.internal, "The request could not be answered: \(error).")
        loop.execute { exchange.value.fail(status) }
      }
    }
  }

  /// - Returns: a future that completes when the piece is written; `nil` if the client has disconnected.
  private func take(_ piece: RESTWork.Piece) -> EventLoopFuture<Void>? {
    switch piece {
    case .part(let answer): return send(answer)
    case .last(let answer):
      guard let carrier else { return nil }
      end(answer)
      return carrier.loop.makeSucceededVoidFuture()
    }
  }
}

/// Serves one REST request in a task. Only the backend's work runs on the connections' thread.
struct RESTWork: Sendable {
  /// The part of the work that is already done.
  enum Start: Sendable {
    /// The request body has been received.
    case request([UInt8])
    case call(RESTCall)
    /// The service has answered.
    case messages(RESTCall, [[UInt8]])
  }

  enum Piece: Sendable {
    case part(HTTPAnswer)
    /// The last or only piece.
    case last(HTTPAnswer)
  }

  private let service: FirestoreService
  private let request: PlainRequest
  private let budget: ConnectionBudget

  init(_ service: FirestoreService, _ request: PlainRequest, _ budget: ConnectionBudget) {
    self.service = service
    self.request = request
    self.budget = budget
  }

  /// - Parameter send: suspends while the client does not read.
  /// - Throws: `RPCStatus`, or the error that `send` threw.
  func run(_ start: Start, to send: @escaping @Sendable (Piece) async throws -> Void) async throws {
    let call: RESTCall
    switch start {
    case .messages(let call, let messages): return try await send(.last(Self.answer(call, messages, to: request)))
    case .request(let body): call = try RESTCall(request.method, request.target, body: body)
    case .call(let ready): call = ready
    }
    let service = service.isRestricted ? try service.serving(as: request.authorization) : service
    let beginning = Beginning()
    let origin = request.origin
    // Factor 2: the messages being sent take memory in addition to the documents.
    let held = HeldBytes(budget, factor: 2)
    defer { held.replace(0) }
    let turn = try await budget.turn(reserving: 2 * call.method.firstBytes)
    try await service.counting(held.replace).answer(call.method, call.message) { messages in
      if !call.isStream { return try await send(.last(Self.answer(call, messages, to: request))) }
      let text = try call.text(of: messages, isFirst: beginning.isNow())
      turn.end()
      try await send(.part(HTTPAnswer(streaming: text).allowing(origin)))
    }
    if call.isStream {
      try await send(.last(HTTPAnswer(streaming: call.end(isFirst: beginning.isNow())).allowing(origin)))
    }
  }

  /// Creates the response from all its messages.
  static func answer(
    _ call: RESTCall, _ messages: [[UInt8]], to request: PlainRequest
  ) throws(RPCStatus) -> HTTPAnswer {
    let text = try call.text(of: messages, isFirst: true)
    let end = call.isStream ? call.end(isFirst: messages.isEmpty) : []
    return HTTPAnswer(200, json: text + end).allowing(request.origin)
  }
}

/// Detects the first piece of a response.
private final class Beginning: Sendable {
  private let isOver = Atomic(false)

  /// Whether this is the first piece. Returns true only once.
  func isNow() -> Bool { !isOver.exchange(true, ordering: .relaxed) }
}
