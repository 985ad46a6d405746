// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import FirestoreServer
import HTTP2Frames
import NIOCore
import NIOHPACK

// The events of the two connections.

extension HTTP2Bridge: FrameConnectionOwner {
  var isSilent: Bool { core.settings.isHalfOpen }

  func beginTurn() { isInTurn = true }

  /// Flushes both sides after a read.
  func endTurn() {
    isInTurn = false
    for upstream in upstreams { upstream.connection?.flush() }
    client?.flush()
  }

  // MARK: The client

  func open(_ end: StreamEnd, _ block: HeaderBlock, isLast: Bool) {
    let stream = BridgedStream(self, core.nextStream(), end, block.proxied.request)
    end.owner = stream
    streams[end.id] = stream
    let method = stream.method
    core.tell(event(.opened, stream))
    if token.refuses(stream.request.token) { return answer(stream, ExpiredToken.status) }
    if core.isDown(method.lane) {
      return answer(stream, RPCStatus(.unavailable, "The backend cannot be reached because the fault \"down\" is on."))
    }
    if method.kind == .read, let code = core.faults.takeReadFault() {
      core.tell(fault("the read is rejected: \(code.name)", stream))
      return answer(stream, RPCStatus(code, "The read was rejected by an injected fault."))
    }
    begin(stream, core.target.isTLS ? block.proxied.addressed(core.addressed) : block, isLast: isLast)
  }

  func receive(_ block: HeaderBlock, isLast: Bool, on end: StreamEnd, _ stream: BridgedStream) {
    if end === stream.client {
      if !stream.isAnswerOver { toServer(.headers(block, isLast: isLast), stream, bytes: 0) }
      return
    }
    if stream.isAnswerOver { return }
    if stream.method.kind == .commit, stream.losses.first == true { return loseAnswer(of: stream) }
    // Skips 1xx responses.
    if let status = block.proxied.httpStatus {
      if status < 200 { return }
      stream.httpStatus = status
    }
    if isLast { (stream.isAnswerOver, stream.outcome) = (true, block.proxied.status) }
    toClient(.piece(.headers(block, isLast: isLast)), stream, bytes: 0)
  }

  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool, on end: StreamEnd, _ stream: BridgedStream) {
    if end === stream.client {
      receiveRequest(bytes, size, isLast: isLast, stream)
    } else {
      receiveAnswer(bytes, size, isLast: isLast, stream, end)
    }
  }

  func receive(_ code: HTTP2Code, on end: StreamEnd, _ stream: BridgedStream) {
    if end === stream.client {
      return abandon(stream, code, RPCStatus(.cancelled, "The client ended the stream."))
    }
    stream.server = nil
    self.end(stream, with: code)
  }

  // MARK: Requests

  private func receiveRequest(_ bytes: ByteBuffer, _ size: Int, isLast: Bool, _ stream: BridgedStream) {
    let end = stream.client
    if stream.isAnswerOver { return end.connection.settle(size, end) }
    if stream.isAssembled { return receiveMessages(stream, bytes, size, isLast: isLast) }
    if core.isHeard { for message in stream.questions.messages(in: bytes) { tell(.request, message, of: stream) } }
    toServer(.data(bytes, owed: size, isLast: isLast), stream, bytes: bytes.readableBytes)
  }

  /// Receives bytes of requests that faults may affect. Each message is forwarded when it is complete.
  private func receiveMessages(_ stream: BridgedStream, _ bytes: ByteBuffer, _ size: Int, isLast: Bool) {
    let end = stream.client
    stream.requests.append(bytes, owed: size)
    var isLastPassed = false
    while true {
      let message: ByteBuffer?
      do throws(RPCStatus) { message = try stream.requests.next(limit: ConnectionLimits.requestMessageBytes) } catch {
        return answer(stream, error)
      }
      guard let message else { break }
      let owed = stream.requests.settle(message.readableBytes)
      let passed = decide(on: message, of: stream)
      if isOver || stream.isAnswerOver { return }
      if let passed {
        isLastPassed = isLast && stream.requests.size == 0
        // The other bytes have already been credited to the client.
        let others = max(0, passed.readableBytes - owed)
        stream.waitingBytes += others
        toServer(.data(passed, owed: owed + others, isLast: isLastPassed), stream, bytes: passed.readableBytes)
      } else {
        end.connection.settle(owed, end)
      }
    }
    if isLast, !isLastPassed {
      toServer(.data(stream.requests.takeRest(), owed: 0, isLast: true), stream, bytes: 0)
    }
    if !makeRoom(for: stream) {
      answer(stream, RPCStatus(.resourceExhausted, "The unfinished requests in the proxy have too many bytes."))
    }
  }

  /// Decides how faults affect a request message.
  /// - Returns: the message to forward; `nil` if it is not forwarded.
  private func decide(on message: ByteBuffer, of stream: BridgedStream) -> ByteBuffer? {
    // A call has only one response. On a Write stream, every write is recorded, so that responses can be matched to
    // writes.
    if !core.isHeard, stream.method.kind == .commit, !core.faults.mayHitWrites { return message }
    var counter = MessageCounter(keeping: core.contentLimit)
    guard let counted = counter.messages(in: message).first else { return message }
    let judge = FaultPolicy(core.faults, stream.method)
    tell(.request, counted, of: stream)
    switch judge.verdict(on: counted) {
    case .pass: return message
    case .replace(let content):
      core.tell(fault("the resume token is removed", stream))
      return GRPCMessage.buffer(content)
    case .passWrite(let losesAnswer):
      stream.losses.append(losesAnswer)
      if losesAnswer { core.tell(fault("the write is passed on, its answer will be lost", stream)) }
      return message
    case .lose:
      core.tell(fault("the write is lost", stream))
      breakOff(because: "an injected fault drops a write")
      return nil
    case .refuse(let status):
      core.tell(fault("the write is rejected: \(status.code.name)", stream))
      answer(stream, status)
      return nil
    case .refuseTarget(let answer, let code):
      core.tell(fault("the listener is rejected: \(code.name)", stream))
      toClient(.message(answer), stream, bytes: answer.readableBytes)
      return nil
    }
  }

  // MARK: The server

  func changedSettings(_ connection: FrameConnection) {
    for upstream in upstreams where upstream.connection === connection { upstream.beginNext() }
  }

  func goesAway(_ connection: FrameConnection, last: Int) {
    guard let upstream = upstreams.first(where: { $0.connection === connection }) else { return }
    upstream.isRetiring = true
    for stream in streams.values.filter({ $0.server?.connection === connection }) {
      guard let end = stream.server, end.id > last else { continue }
      stream.server = nil
      connection.drop(end, .cancel)
      // The server has not processed the stream, so the client may send it again.
      self.end(stream, with: .refusedStream)
    }
    // Streams that have not begun on this connection begin on the next one.
    for stream in upstream.takeBeginning() where !stream.isAnswerOver { begin(stream) }
    if connection.ends.isEmpty { connection.close() }
  }

  private func receiveAnswer(
    _ bytes: ByteBuffer, _ size: Int, isLast: Bool, _ stream: BridgedStream, _ end: StreamEnd
  ) {
    if stream.isAnswerOver { return end.connection.settle(size, end) }
    stream.answerBytes += bytes.readableBytes
    let isListen = stream.method.kind == .listen
    if stream.isGRPC, core.isHeard || stream.method.kind == .writes || isListen && core.faults.hasForgottenTokens {
      for message in stream.answers.messages(in: bytes) {
        if stream.losesAnswer() { return loseAnswer(of: stream) }
        if isListen { core.faults.note(tokens: FaultPolicy.tokens(inResponse: message.content)) }
        tell(.response, message, of: stream)
      }
    }
    if isLast { stream.isAnswerOver = true }
    toClient(.piece(.data(bytes, owed: size, isLast: isLast)), stream, bytes: bytes.readableBytes)
  }

  private func loseAnswer(of stream: BridgedStream) {
    core.tell(fault("the answer is lost", stream))
    breakOff(because: "an injected fault drops a response")
  }
}

// The reported events of a connection and its streams.

extension HTTP2Bridge {
  func tell(_ kind: ProtocolEvent.Kind, _ message: MessageCounter.Message, of stream: BridgedStream) {
    guard core.isHeard else { return }
    var event = event(kind, stream)
    event.bytes = message.size
    if message.isCompressed {
      event.remark = "compressed"
    } else {
      event.message = MessageSummary(stream.method.name, message.content, isRequest: kind == .request)
      if core.contentLimit > 0, message.isWhole, let schema = event.schema {
        event.message?.content = MessageContent(.bytes(message.content), schema)
      }
    }
    core.tell(event)
  }

  func event(_ kind: ProtocolEvent.Kind, _ stream: BridgedStream) -> ProtocolEvent {
    var event = core.event(kind, connection: number, stream: stream.number, stream.method)
    event.transport = stream.method.isChannel ? .webchannel : stream.isGRPC ? .grpc : .http
    return event
  }

  func tellEnd(of stream: BridgedStream) {
    if !core.isHeard { return }
    var event = event(.ended, stream)
    (event.status, event.bytes) = (stream.outcome ?? RPCStatus(.ok, ""), stream.answerBytes)
    event.httpStatus = stream.isGRPC ? nil : stream.httpStatus
    event.duration = .nanoseconds((NIODeadline.now() - stream.began).nanoseconds)
    core.tell(event)
  }

  func fault(_ remark: String, _ stream: BridgedStream) -> ProtocolEvent {
    var event = event(.fault, stream)
    event.remark = remark
    return event
  }

  func connectionEvent(_ remark: String) -> ProtocolEvent {
    var event = core.event(.connection, connection: number)
    event.remark = remark
    return event
  }
}

/// Caches the values that the proxy computes from a list of headers. All equal header blocks share this object.
final class ProxiedBlock {
  private let headers: HPACKHeaders

  fileprivate init(_ headers: HPACKHeaders) { self.headers = headers }

  /// The request with this head.
  private(set) lazy var request = RequestHead(headers)
  /// The status in the trailers of a call; `nil` if there is none.
  private(set) lazy var status = RPCStatus(trailers: headers)
  /// The HTTP status of a response head.
  private(set) lazy var httpStatus = headers.first(name: ":status").flatMap { Int($0) }
  /// The request head for a TLS server.
  private var addressed: HeaderBlock?

  /// Returns the head with the server's name, which `rewrite` inserts.
  func addressed(_ rewrite: (HPACKHeaders) -> HPACKHeaders) -> HeaderBlock {
    if let addressed { return addressed }
    let block = HeaderBlock(rewrite(headers))
    addressed = block
    return block
  }
}

extension HeaderBlock {
  var proxied: ProxiedBlock {
    if let meaning = meaning as? ProxiedBlock { return meaning }
    let fresh = ProxiedBlock(headers)
    meaning = fresh
    return fresh
  }
}

/// The parts of a request head that the proxy uses.
struct RequestHead {
  let method: ProxiedMethod
  let isGRPC: Bool
  let token: String?

  init(_ headers: HPACKHeaders) {
    method = ProxiedMethod(headers.first(name: ":method") ?? "", headers.first(name: ":path") ?? "")
    isGRPC = headers.first(name: "content-type")?.hasPrefix("application/grpc") == true
    token = headers.first(name: "authorization")
  }
}
