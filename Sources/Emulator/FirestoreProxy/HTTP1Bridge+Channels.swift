// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreEmulator
import FirestoreJSON
import FirestoreModel
import FirestoreREST
import NIOCore
import NIOHTTP1

// WebChannel sessions, in which the proxy can send messages in place of the server.

extension HTTP1Bridge {
  /// Rejects the targets that a request adds. The request that the server receives removes them instead, so that client
  /// and server count the same messages.
  /// - Returns: whether to forward the request to the server.
  func refuse(_ exchange: HTTP1Exchange, _ code: StatusCode) -> Bool {
    core.tell(fault("the listener is rejected: \(code.name)", exchange))
    let refused = RefusedTargets(Array(exchange.held.readableBytesView))
    let sayings = refused.targets.compactMap { target in
      // Writing a message that was created here does not fail.
      (try? StreamMethod.listen.response(FaultPolicy.refusal(of: target, code))).map(Self.array)
    }
    if sayings.isEmpty {
      answer(exchange, RPCStatus(code, "The listener was rejected by an injected fault."))
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

  /// Sends the messages that waited until the server opened the session.
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

  /// Forwards the frames of a back channel, after converting the server's array numbers to the client's numbers.
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

  /// Sends the inserted arrays that are next on the back channel. Ends the back channel if the session is over, or if
  /// the client reads the response only after its end.
  func speak(in session: String) {
    guard let exchange, exchange.session == session, exchange.isBack, !exchange.isAnswerOver, !exchange.isOpaque,
      !exchange.frames.isWithinFrame, let known = core.channels.sessions[session], known.hasDue(after: exchange.sent)
    else { return }
    // The server may begin its response only when it has something to send.
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

  /// Answers a request in place of the server: with the arrays that the client has not received, or, if there are none,
  /// with an error that the session is unknown.
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

/// A WebChannel session that the proxy forwards. It consists of the server's arrays and of arrays that the proxy
/// inserts. The client counts both, so the proxy renumbers the server's later arrays and the client's acknowledgements.
struct ProxiedSession {
  /// The proxy's arrays, with their numbers for the client.
  private var own: [ChannelArray] = []
  /// The number of the server's newest array.
  private var newest = 0
  /// Whether the proxy has ended the session for the client.
  private(set) var isOver = false

  var hasOwn: Bool { !own.isEmpty }

  /// Whether the next array for the client is one that the proxy inserts.
  /// - Parameter sent: the newest number that was sent to the client.
  func hasDue(after sent: Int) -> Bool {
    own.contains { $0.number > sent && (isOver || $0.number == sent + 1) }
  }

  /// Inserts an array after all arrays that the server has sent.
  mutating func say(_ content: [UInt8]) {
    own.append(ChannelArray(number: newest + own.count + 1, content: content))
  }

  /// Ends the session after all arrays that were sent or added.
  mutating func end() {
    say(Array("[\"close\"]".utf8))
    isOver = true
  }

  /// The number of the newest array that the client may have received.
  var last: Int { newest + own.count }

  /// Converts the server's number of an array to the client's number.
  func number(forClient number: Int) -> Int {
    var number = number
    for array in own where array.number <= number { number += 1 }
    return number
  }

  /// Converts the client's number of an array to the server's number.
  func number(forServer number: Int) -> Int { number - own.count { $0.number <= number } }

  /// The arrays to send to the client after the server has sent these arrays.
  /// - Parameter sent: the newest number that was sent on this back channel.
  mutating func arrays(_ said: [ChannelArray], after sent: inout Int) -> [ChannelArray] {
    var arrays: [ChannelArray] = []
    for array in isOver ? [] : said {
      newest = max(newest, array.number)
      arrays += due(after: &sent)
      let number = number(forClient: array.number)
      arrays.append(ChannelArray(number: number, content: array.content))
      sent = max(sent, number)
    }
    return arrays + due(after: &sent)
  }

  /// The inserted arrays that must be sent next. Once the session is over, these are all of its remaining arrays.
  private func due(after sent: inout Int) -> [ChannelArray] {
    var due: [ChannelArray] = []
    for array in own where array.number > sent {
      guard isOver || array.number == sent + 1 else { break }
      due.append(array)
      sent = array.number
    }
    return due
  }
}

/// The WebChannel sessions that faults affect, by session id.
struct BrokenChannels {
  private static let most = 10_000

  /// The sessions whose next response to a write will be lost.
  var losing: Set<String> = []
  /// The sessions that the proxy has ended. The server may still keep them open, but a client that uses one gets an error.
  private(set) var dead: Set<String> = []
  /// The sessions with arrays of the proxy.
  private(set) var sessions: [String: ProxiedSession] = [:]
  /// The connections that have open back channels.
  var backs: [String: HTTP1Bridge] = [:]

  mutating func kill(_ session: String) {
    losing.remove(session)
    sessions[session] = nil
    if dead.count >= Self.most { dead = [] }
    dead.insert(session)
  }

  mutating func change<Result>(_ session: String, _ body: (inout ProxiedSession) -> Result) -> Result {
    if sessions[session] == nil, sessions.count >= Self.most { sessions = sessions.filter { $0.value.hasOwn } }
    return body(&sessions[session, default: ProxiedSession()])
  }
}

/// The body of a WebChannel request whose added targets are rejected. For the server, they are replaced by removals, so
/// that client and server count the same messages.
struct RefusedTargets {
  /// The body for the server.
  let body: [UInt8]
  /// The ids of the rejected targets.
  let targets: [Int32]

  init(_ body: [UInt8]) {
    var targets: [Int32] = []
    let pairs = String(decoding: body, as: UTF8.self).split(separator: "&").map { pair -> String in
      let name = pair.prefix { $0 != "=" }
      guard name.hasPrefix("req"), name.hasSuffix("___data__"),
        let json = try? JSONSyntax(parsing: PercentEncoding.decoded(pair.dropFirst(name.count + 1), spaces: true)),
        case .integer(let number)? = json["addTarget"]?["targetId"]?.kind, let target = Int32(exactly: number)
      else { return String(pair) }
      targets.append(target)
      let database = json["database"].map { "\"database\":\($0.lineText)," } ?? ""
      return "\(name)=" + Self.encoded("{\(database)\"removeTarget\":\(target)}")
    }
    self.body = Array(pairs.joined(separator: "&").utf8)
    self.targets = targets
  }

  private static func encoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      let isPlain = byte < 0x80 && (UnicodeScalar(byte).properties.isAlphabetic || (0x30...0x39).contains(byte))
      encoded +=
        isPlain ? String(UnicodeScalar(byte)) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }
    return encoded
  }
}
