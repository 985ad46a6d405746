// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreEmulator
import FirestoreJSON
import FirestoreModel
import FirestoreREST
import NIOCore
import NIOHTTP1

// Sessions of WebChannel in which the proxy says something in place of the server.

extension HTTP1Bridge {
  /// Refuses the targets that a request adds. The server is told to remove them, so that it counts the same messages.
  /// - Returns: whether the request goes on to the server.
  func refuse(_ exchange: HTTP1Exchange, _ code: StatusCode) -> Bool {
    core.tell(fault("the listener is rejected: \(code.name)", exchange))
    let refused = RefusedTargets(Array(exchange.held.readableBytesView))
    let sayings = refused.targets.compactMap { target in
      // A message that was made here can be written.
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

/// A session of WebChannel as it passes: the server's arrays, and those that the proxy puts between them. The client counts
/// them together, so that the server's later ones get other numbers on the way, and acknowledgements those that it knows.
struct ProxiedSession {
  /// The arrays of the proxy, by their numbers for the client.
  private var own: [ChannelArray] = []
  /// The newest number of the server.
  private var newest = 0
  /// Whether the proxy has ended the session for the client.
  private(set) var isOver = false

  var hasOwn: Bool { !own.isEmpty }

  /// Whether the proxy is the next to say something.
  /// - Parameter sent: the newest number that the client has.
  func hasDue(after sent: Int) -> Bool {
    own.contains { $0.number > sent && (isOver || $0.number == sent + 1) }
  }

  /// Puts an array behind all that the server has said.
  mutating func say(_ content: [UInt8]) {
    own.append(ChannelArray(number: newest + own.count + 1, content: content))
  }

  /// Ends the session behind all that was said.
  mutating func end() {
    say(Array("[\"close\"]".utf8))
    isOver = true
  }

  /// The newest number that the client may have.
  var last: Int { newest + own.count }

  /// The number for the client of a number of the server.
  func number(forClient number: Int) -> Int {
    var number = number
    for array in own where array.number <= number { number += 1 }
    return number
  }

  /// The number of the server of one of the client.
  func number(forServer number: Int) -> Int { number - own.count { $0.number <= number } }

  /// The arrays for the client, when the server has said these.
  /// - Parameter sent: the newest number that went out on this back channel.
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

  /// The own arrays that come next. Of a session that is over nothing else comes before them.
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

/// The sessions of WebChannel, by their ids, whose answers a fault is about.
struct BrokenChannels {
  private static let most = 10_000

  /// Sessions whose next answer to a write is lost.
  var losing: Set<String> = []
  /// Sessions that are over: the server may go on with them, the client is told that they are unknown.
  private(set) var dead: Set<String> = []
  /// The sessions as they pass.
  private(set) var sessions: [String: ProxiedSession] = [:]
  /// The connections on which back channels are open.
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

/// The body of a request of WebChannel without the targets that it adds: the server is told to remove them, so that it
/// counts the same messages as the client.
struct RefusedTargets {
  /// The body for the server.
  let body: [UInt8]
  /// The numbers of the targets.
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
