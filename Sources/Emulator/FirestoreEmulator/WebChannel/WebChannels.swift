// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreServer
import FirestoreService
import NIOCore

/// The sessions of WebChannel, the browsers' transport for Listen and Write. Serves their requests, limits their
/// number, and ends unused sessions. Used only on the connections' thread.
final class WebChannels: Sendable {
  /// The sender of a request.
  struct Caller {
    /// The origin of the requesting page, which has been accepted.
    let origin: String?
    let address: String?
    /// The header `authorization`.
    let authorization: String?
  }

  struct Limits {
    /// The maximum number of sessions; `perAddress` is the maximum per client machine.
    var sessions = 10_000
    var perAddress: Int

    /// The limits on a port that is reachable only from this machine. All clients have the same address there.
    static let loopback = Limits(perAddress: 10_000)
    static let network = Limits(perAddress: 256)
  }

  private struct State {
    /// Whether a browser with too many back channels has been reported.
    var hasTold = false
    var sessions: [String: WebChannel] = [:]
    var sessionsOfAddress: [String: Int] = [:]
    /// The scheduled next turn of all sessions; `nil` without sessions.
    var clock: Scheduled<Void>?
  }

  /// The size limit of bodies that are parsed on the connections' thread.
  private static let smallBytes = 32 << 10
  /// The pause within a test response. It lets the client detect whether a proxy buffers the beginning.
  private static let trialPause = TimeAmount.seconds(2)

  private let service: FirestoreService
  private let turn: DeliverySlice
  private let budget: ServerBudget
  private let limits: Limits
  private let loop: any EventLoop
  private let report: (@Sendable (String) -> Void)?
  private let state: NIOLoopBoundBox<State>

  /// - Parameters:
  ///   - loop: the connections' thread.
  ///   - report: receives one message when a client has five back channels over HTTP/1.
  init(
    _ service: FirestoreService, _ turn: DeliverySlice, _ budget: ServerBudget, _ limits: Limits,
    on loop: any EventLoop, report: (@Sendable (String) -> Void)? = nil
  ) {
    self.service = service
    self.turn = turn
    self.budget = budget
    self.limits = limits
    self.loop = loop
    self.report = report
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  var count: Int { state.value.sessions.count }

  /// Answers a request.
  /// - Parameters:
  ///   - verb: the HTTP method.
  ///   - target: the target as received.
  func serve(_ verb: String, _ target: String, _ body: [UInt8], from caller: Caller, to answer: StreamedAnswer) {
    do throws(RPCStatus) {
      let request = try WebChannelRequest(verb, target)
      switch request.wish {
      case .open(let wantsSessionID):
        read(body, request.method, from: caller, to: answer) { body throws(RPCStatus) in
          let headers = body.headers.or(request.headers).or(ChannelHeaders(authorization: caller.authorization))
          let session = try self.open(caller)
          // The whole session uses the identity of its first request.
          session.begin(request.method, as: headers.authorization)
          session.receive(body)
          let greeting = ChannelAnswer.whole(ChannelSession.greeting(session.id), origin: caller.origin)
          return wantsSessionID ? greeting.adding("X-HTTP-Session-Id", Self.newID()) : greeting
        }
      case .send(let id):
        read(body, request.method, from: caller, to: answer) { body throws(RPCStatus) in
          let session = try self.session(id, acknowledging: request.acknowledged)
          session.receive(body)
          return ChannelAnswer.whole(session.reply, origin: caller.origin)
        }
      case .receive(let id, let isBuffered, let patience):
        let session = try session(id, acknowledging: request.acknowledged)
        session.open(answer, isBuffered: isBuffered, patience: patience, origin: caller.origin)
        tellOfMany(caller)
      case .terminate(let id):
        // Ending a session succeeds even if it has already ended.
        if let session = state.value.sessions[id] { end(session) }
        answer.end(ChannelAnswer.whole([], origin: caller.origin))
      case .parameters: answer.end(ChannelAnswer.whole(Array(#"["",""]"#.utf8), origin: caller.origin))
      case .trial: tryLine(answer, caller)
      }
    } catch { answer.end(ChannelAnswer.refusal(error, origin: caller.origin)) }
  }

  /// Parses the body of a request, and responds with the result of `use` or an error.
  private func read(
    _ body: [UInt8], _ method: StreamMethod, from caller: Caller, to answer: StreamedAnswer,
    _ use: @escaping (ForwardBody) throws(RPCStatus) -> HTTPAnswer
  ) {
    let finish = { (body: Result<ForwardBody, any Error>) in
      do { answer.end(try use(try body.get())) } catch {
        let status = error as? RPCStatus ?? RPCStatus(.internal, "The request could not be read: \(error).")
        answer.end(ChannelAnswer.refusal(status, origin: caller.origin))
      }
    }
    if body.count <= Self.smallBytes { return finish(Result { try ForwardBody(body, of: method) }) }
    let promise = loop.makePromise(of: ForwardBody.self)
    promise.completeWithTask { try ForwardBody(body, of: method) }
    promise.futureResult.assumeIsolated().whenComplete(finish)
  }

  /// The number of back channels that is reported as too many. Over HTTP/1, a browser has six connections to a host. A
  /// page uses two of them, for Listen and Write, so three tabs leave no connection for other requests.
  private static let many = 5

  private func tellOfMany(_ caller: Caller) {
    guard let report, !state.value.hasTold, state.value.sessionsOfAddress[caller.address ?? "", default: 0] >= Self.many
    else { return }
    let open = state.value.sessions.values.count { $0.address == caller.address && $0.hasBackChannel }
    guard open >= Self.many else { return }
    state.value.hasTold = true
    report(
      "\(caller.address ?? "a client") has \(open) WebChannel back channels open. A browser has six connections to a "
        + "host over HTTP/1 and uses two of them for each tab, so the third tab waits. Over TLS (--tls-cert) it uses "
        + "HTTP/2, and no tab waits.")
  }

  private func tryLine(_ answer: StreamedAnswer, _ caller: Caller) {
    answer.send(ChannelAnswer.piece(Array("11111".utf8), origin: caller.origin))
    loop.assumeIsolated().scheduleTask(in: Self.trialPause) {
      answer.end(ChannelAnswer.piece(Array("2".utf8), origin: caller.origin))
    }
  }

  // MARK: Sessions

  private func open(_ caller: Caller) throws(RPCStatus) -> WebChannel {
    let address = caller.address ?? ""
    guard count < limits.sessions, state.value.sessionsOfAddress[address, default: 0] < limits.perAddress else {
      throw RPCStatus(.resourceExhausted, "There are too many sessions. Unused sessions end within a minute.")
    }
    let (id, loop) = (Self.newID(), loop)
    let session = WebChannel(id, service, turn, budget, address: caller.address, on: loop) { [weak self] in
      // The session ends only after the current work, which exceeded the budget.
      loop.assumeIsolated().execute {
        if let self, let session = self.state.value.sessions[id] { self.end(session) }
      }
    }
    state.value.sessions[id] = session
    state.value.sessionsOfAddress[address, default: 0] += 1
    startClock()
    return session
  }

  private func session(_ id: String, acknowledging number: Int?) throws(RPCStatus) -> WebChannel {
    guard let session = state.value.sessions[id] else { throw ChannelAnswer.isUnknown }
    if let number { session.acknowledge(number) }
    if session.isDone {
      end(session)
      throw ChannelAnswer.isUnknown
    }
    return session
  }

  private func end(_ session: WebChannel) {
    guard state.value.sessions.removeValue(forKey: session.id) != nil else { return }
    let address = session.address ?? ""
    let rest = state.value.sessionsOfAddress[address, default: 1] - 1
    state.value.sessionsOfAddress[address] = rest > 0 ? rest : nil
    session.close()
    if count == 0 {
      state.value.clock?.cancel()
      state.value.clock = nil
    }
  }

  /// Ends all sessions.
  func close() { for session in Array(state.value.sessions.values) { end(session) } }

  private func startClock() {
    guard state.value.clock == nil else { return }
    let turn = TimeAmount.seconds(Int64(ChannelSession.turn))
    state.value.clock = loop.assumeIsolated().scheduleTask(in: turn) {
      self.state.value.clock = nil
      for session in Array(self.state.value.sessions.values) where !session.tick() { self.end(session) }
      if self.count > 0 { self.startClock() }
    }
  }

  /// Creates a random id that cannot be guessed.
  private static func newID() -> String { Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) }) }
}

/// WebChannel responses. Browsers neither render them as a page nor cache them, and the client library may read their
/// headers.
enum ChannelAnswer {
  private static let type = "text/plain; charset=utf-8"

  /// A part of a back channel, or its beginning.
  static func piece(_ text: [UInt8], origin: String?) -> HTTPAnswer {
    marked(HTTPAnswer(streaming: text, type: type), origin)
  }

  static func whole(_ text: [UInt8], code: Int = 200, origin: String?) -> HTTPAnswer {
    marked(HTTPAnswer(code, type: type, text), origin)
  }

  /// The response to an invalid request. The client library searches the response for the text that reports an ended
  /// session.
  static func refusal(_ status: RPCStatus, origin: String?) -> HTTPAnswer {
    whole(Array("\(status.message)\n".utf8), code: status.code.httpStatus, origin: origin)
  }

  static let isUnknown = RPCStatus(.invalidArgument, "The session does not exist: Unknown SID.")

  private static func marked(_ answer: HTTPAnswer, _ origin: String?) -> HTTPAnswer {
    answer.allowing(origin)
      .adding("Access-Control-Expose-Headers", "X-Client-Wire-Protocol, X-HTTP-Session-Id, X-HTTP-Initial-Response")
      .adding("X-Content-Type-Options", "nosniff")
      .adding("Cache-Control", "private, max-age=0")
  }
}
