// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreEmulator
import FirestoreModel
import FirestoreREST
import NIOCore
import NIOHTTP1

// Sessions of WebChannel in which the proxy says something in place of the server.

extension HTTP1Bridge {
  /// Refuses the targets that a request adds. The server is told to remove them, so that it counts the same messages.
  /// - Returns: whether the request goes on to the server.
  func refuse(_ exchange: HTTP1Exchange, _ code: StatusCode) -> Bool {
    core.tell(fault("the listener is refused: \(code.name)", exchange))
    let refused = RefusedTargets(Array(exchange.held.readableBytesView))
    let sayings = refused.targets.compactMap { target in
      // A message that was made here can be written.
      (try? StreamMethod.listen.response(RequestJudge.refusal(of: target, code))).map(Self.array)
    }
    if sayings.isEmpty {
      answer(exchange, RPCStatus(code, "The listener was refused by an injected fault."))
      return false
    }
    exchange.replaceBody(refused.body)
    if let session = exchange.session { say(sayings, in: session) } else { exchange.sayings = sayings }
    return true
  }

  /// Ends a session's stream with a status, as the server does.
  func end(_ session: String, with status: RPCStatus) {
    let message = Self.array(StreamMethod.end(with: status))
    core.channels.change(session) { known in
      known.say(message)
      known.end()
    }
    core.channels.backs[session]?.speak(in: session)
  }

  /// Says in a session what was kept for it until its server has opened it.
  func greet(_ exchange: HTTP1Exchange, _ bytes: ByteBuffer) {
    let text = String(decoding: bytes.readableBytesView, as: UTF8.self)
    guard let start = text.firstRange(of: "[\"c\",\"")?.upperBound, let end = text[start...].firstIndex(of: "\"") else {
      return
    }
    say(exchange.sayings, in: String(text[start..<end]))
    exchange.sayings = []
  }

  private func say(_ contents: [[UInt8]], in session: String) {
    core.channels.change(session) { known in
      for content in contents { known.say(content) }
    }
    core.channels.backs[session]?.speak(in: session)
  }

  private static func array(_ message: [UInt8]) -> [UInt8] { [UInt8(ascii: "[")] + message + [UInt8(ascii: "]")] }

  // MARK: Back channels

  /// Passes the frames of a back channel, with the numbers that the client counts by.
  func passFrames(_ bytes: ByteBuffer, _ exchange: HTTP1Exchange, _ session: String) {
    if exchange.isOpaque { return deliver(.body(.byteBuffer(bytes)), exchange, bytes: bytes.readableBytes) }
    guard let frames = exchange.frames.append(bytes) else {
      exchange.isOpaque = true
      let rest = exchange.frames.takeRest()
      return deliver(.body(.byteBuffer(ByteBuffer(bytes: rest))), exchange, bytes: rest.count)
    }
    for frame in frames {
      let arrays = core.channels.change(session) { $0.arrays(frame, after: &exchange.sent) }
      deliver(arrays, exchange)
    }
    speak(in: session)
  }

  /// Says what is the proxy's turn to say on the back channel, and ends it if the session is over, or if it is one whose
  /// client reads the answer when that has ended.
  func speak(in session: String) {
    guard let exchange, exchange.session == session, exchange.isBack, !exchange.isAnswerOver, !exchange.isOpaque,
      !exchange.frames.isWithinFrame, let known = core.channels.sessions[session], known.hasDue(after: exchange.sent)
    else { return }
    // A server may begin its answer no earlier than it has something to say.
    guard let status = exchange.httpStatus else { return answerForServer(exchange, session) }
    if status != 200 { return }
    let arrays = core.channels.change(session) { $0.arrays([], after: &exchange.sent) }
    deliver(arrays, exchange)
    guard known.isOver || exchange.isBuffered else { return }
    leaveServer(exchange)
    deliver(.end(nil), exchange, bytes: 0)
  }

  private func deliver(_ arrays: [ChannelArray], _ exchange: HTTP1Exchange) {
    if arrays.isEmpty { return }
    let frame = ByteBuffer(bytes: ChannelFrames.frame(arrays))
    deliver(.body(.byteBuffer(frame)), exchange, bytes: frame.readableBytes)
  }

  /// Answers a request of a session that the proxy has ended: with what the client has not got of it, and then that it is
  /// unknown.
  func answerForServer(_ exchange: HTTP1Exchange, _ session: String) {
    let text: [UInt8]
    if exchange.isBack {
      let arrays = core.channels.change(session) { $0.arrays([], after: &exchange.sent) }
      if arrays.isEmpty { return answer(exchange, RPCStatus(.invalidArgument, "Unknown SID")) }
      text = ChannelFrames.frame(arrays)
    } else {
      let last = core.channels.sessions[session]?.last ?? 0
      text = ChannelOutbox.framed(Array("[\(core.channels.backs[session] == nil ? 0 : 1),\(last),0]".utf8))
    }
    leaveServer(exchange)
    let (head, body) = PlainAnswer.channel(text, .http1_1)
    exchange.httpStatus = 200
    deliver(.head(head), exchange, bytes: 0)
    deliver(.body(.byteBuffer(body)), exchange, bytes: 0)
    deliver(.end(nil), exchange, bytes: 0)
  }
}
