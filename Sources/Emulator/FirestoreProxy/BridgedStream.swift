// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import HTTP2Frames
import NIOCore

/// One stream of a client's connection, and the stream of the server's that answers it:
/// ```
/// client ── FrameConnection ── StreamEnd ── BridgedStream ── StreamEnd ── FrameConnection ── server
/// ```
final class BridgedStream {
  let bridge: HTTP2Bridge
  let number: Int
  let request: RequestHead
  let began = NIODeadline.now()
  let client: StreamEnd
  /// `nil` until the server knows of it, and after it is to know no more.
  var server: StreamEnd?
  /// The connection to the server on which it goes on.
  var upstream: Upstream?
  /// The head and what came behind it, as long as the server does not know of the stream.
  var early: [StreamEnd.Piece] = []
  /// The pieces that are held up on their way; `nil` as long as there were none.
  var toServer: ByteRelay?
  var toClient: ByteRelay?

  /// Requests whose messages are decided on one by one.
  var requests = RequestAssembly()
  /// The bytes of whole messages that wait for the server, and for which the client has room already.
  var waitingBytes = 0
  /// `heldBytes` and `waitingBytes` as they count at the connection.
  var counted = (held: 0, waiting: 0)
  /// Whether the client gets no more room until whole messages have gone to the server.
  var isStalled = false
  var questions = MessageCounter(keeping: 0)
  var answers: MessageCounter
  /// Whether each write that was passed on will lose its answer, in order; of a stream the handshake is none.
  var losses: [Bool] = []
  var hasShakenHands = false
  var hasAnswerHead = false
  /// Whether the client has the end of the answer, or has gone.
  var isOver = false
  /// Whether the end of the answer has come, or the proxy has answered.
  var isAnswerOver = false
  var answerBytes = 0
  /// The end as it is told; `nil` for an answer that ended without saying how.
  var outcome: RPCStatus?
  var httpStatus: Int?

  init(_ bridge: HTTP2Bridge, _ number: Int, _ client: StreamEnd, _ request: RequestHead) {
    (self.bridge, self.number, self.client, self.request) = (bridge, number, client, request)
    // A listener's responses have one document each. Requests that can be large are assembled, and counted there.
    answers = MessageCounter(keeping: request.method.kind == .listen ? bridge.core.contentLimit : 0)
  }

  var method: ProxiedMethod { request.method }
  var isGRPC: Bool { request.isGRPC }

  /// Takes a message of a stream of writes' answers.
  /// - Returns: whether it is to be lost.
  func losesAnswer() -> Bool {
    guard method.kind == .writes else { return false }
    if !hasShakenHands {
      hasShakenHands = true
      return false
    }
    return losses.isEmpty ? false : losses.removeFirst()
  }

  /// The bytes for which the client has room again although the server does not have them.
  var heldBytes: Int { requests.size + waitingBytes }

  /// Whether its requests are taken message by message, so that faults can hit one.
  var isAssembled: Bool { isGRPC && [.listen, .writes, .commit].contains(method.kind) }
}

extension BridgedStream: StreamOwner {
  func receive(_ block: HeaderBlock, isLast: Bool, on end: StreamEnd) {
    bridge.receive(block, isLast: isLast, on: end, self)
  }

  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool, on end: StreamEnd) {
    bridge.receive(bytes, size: size, isLast: isLast, on: end, self)
  }

  func receive(_ code: HTTP2Code, on end: StreamEnd) { bridge.receive(code, on: end, self) }

  /// Gives the peer at the other end back the room for bytes that have gone.
  func hasSent(_ owed: Int, on end: StreamEnd) {
    if end !== client { return bridge.hasSentRequest(owed, of: self) }
    server?.connection.settle(owed, server ?? end)
  }

  func hasDrained(_ end: StreamEnd) {}

  func hasSaidOut(_ end: StreamEnd) {
    if end === client { bridge.finish(self) }
  }
}

/// A connection to the server, and the streams that are to begin on it.
final class Upstream {
  enum State { case connecting, open, closed }

  var connection: FrameConnection?
  /// The connections that are tried, by their channels.
  var attempts: [ObjectIdentifier: FrameConnection] = [:]
  var state = State.connecting
  /// Whether it takes no more streams.
  var isRetiring = false
  /// The reason for which it cannot go on, if one is known.
  var failure: RPCStatus?
  private var beginning: CircularBuffer<BridgedStream> = []

  func add(_ stream: BridgedStream) {
    beginning.append(stream)
    beginNext()
  }

  /// Takes the streams that have not begun.
  func takeBeginning() -> [BridgedStream] {
    defer { beginning = [] }
    return Array(beginning)
  }

  /// Begins the streams for which the server has room, in their order.
  func beginNext() {
    guard state == .open, !isRetiring, let connection else { return }
    while connection.takesStream, let stream = beginning.popFirst() {
      if stream.isAnswerOver { continue }
      let end = connection.begin(stream)
      stream.server = end
      let pieces = stream.early
      stream.early = []
      for piece in pieces { connection.send(piece, on: end) }
    }
  }
}

/// The bytes of requests until a message is whole.
struct RequestAssembly {
  static let front = 5

  private var bytes = ByteBuffer()
  /// The bytes for which the client has been given no room yet.
  private var owed = 0

  var size: Int { bytes.readableBytes }

  /// - Parameter owed: the bytes that the client has used of its room, padding included.
  mutating func append(_ more: ByteBuffer, owed: Int) {
    if size == 0 { bytes = more } else { bytes.writeImmutableBuffer(more) }
    self.owed += owed
  }

  /// Takes so many bytes of what is owed to the client, or what there is.
  mutating func settle(_ most: Int) -> Int {
    let settled = min(owed, most)
    owed -= settled
    return settled
  }

  /// Takes what is no whole message.
  mutating func takeRest() -> ByteBuffer {
    defer { bytes = ByteBuffer() }
    return bytes
  }

  /// - Parameter limit: the most bytes of a message.
  /// - Returns: the next message with the five bytes in front; `nil` while it is not whole.
  mutating func next(limit: Int) throws(RPCStatus) -> ByteBuffer? {
    guard let length = bytes.getInteger(at: bytes.readerIndex + 1, as: UInt32.self), size >= Self.front else {
      return nil
    }
    if length > limit {
      throw RPCStatus(.resourceExhausted, "The message has \(length) bytes. The proxy accepts at most \(limit).")
    }
    let message = bytes.readSlice(length: Self.front + Int(length))
    if size == 0 { bytes = ByteBuffer() }
    return message
  }
}

/// Finds the messages of gRPC in a stream's bytes that pass by, and keeps the beginning of each.
struct MessageCounter {
  struct Message {
    /// The beginning of the content, the whole of it if it is no longer than the counter keeps.
    var content: [UInt8]
    /// The size in bytes without the five in front.
    var size: Int
    var isCompressed: Bool
    var isWhole: Bool { content.count == size && !isCompressed }
  }

  /// The number of bytes that a summary of a message needs.
  private static let summarized = 64 << 10
  private static let front = 5

  private let mostKept: Int
  private var head: [UInt8] = []
  private var message: Message?
  private var missing = 0

  /// - Parameter limit: the number of bytes of a message that are kept; at least 64 KiB are.
  init(keeping limit: Int) { mostKept = max(limit, Self.summarized) }

  /// Whether the next byte begins a message.
  var isBetween: Bool { head.isEmpty && message == nil }

  mutating func messages(in bytes: ByteBuffer) -> [Message] {
    var view = bytes.readableBytesView
    var found: [Message] = []
    while true {
      if message == nil {
        let taken = view.prefix(Self.front - head.count)
        head += taken
        view = view.dropFirst(taken.count)
        guard head.count == Self.front else { return found }
        missing = head[1...].reduce(0) { $0 << 8 | Int($1) }
        message = Message(content: [], size: missing, isCompressed: head[0] != 0)
        head = []
      }
      let taken = view.prefix(missing)
      let room = mostKept - (message?.content.count ?? 0)
      message?.content += taken.prefix(room)
      missing -= taken.count
      view = view.dropFirst(taken.count)
      guard missing == 0, let whole = message else { return found }
      found.append(whole)
      message = nil
    }
  }
}

/// Ends the connection to a server that sends nothing while calls wait for it, not even the answer to a ping. The client
/// cannot find out: the proxy answers its pings.
///
/// A ping follows a period without a byte, and the end the next one: after two to three periods.
final class SilenceHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let connection: FrameConnection
  private let period: TimeAmount
  private var hasHeard = false
  private var hasAsked = false
  private var next: Scheduled<Void>?

  init(_ connection: FrameConnection, period: TimeAmount) { (self.connection, self.period) = (connection, period) }

  func handlerAdded(context: ChannelHandlerContext) { schedule(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    hasHeard = true
    context.fireChannelRead(data)
  }

  func handlerRemoved(context: ChannelHandlerContext) { next?.cancel() }

  private func schedule(_ context: ChannelHandlerContext) {
    next = context.eventLoop.assumeIsolated().scheduleTask(in: period) { [weak self] in self?.check(context) }
  }

  private func check(_ context: ChannelHandlerContext) {
    if hasHeard || connection.ends.isEmpty {
      hasAsked = false
    } else if hasAsked {
      return context.fireErrorCaught(Silence())
    } else {
      hasAsked = true
      connection.ping()
    }
    hasHeard = false
    schedule(context)
  }

  private struct Silence: Error, CustomStringConvertible {
    var description: String { "it sent nothing and did not answer a ping" }
  }
}
