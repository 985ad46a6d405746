// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import HTTP2Frames
import NIOCore

/// Connects one stream of a client's connection with the stream of the server's connection that answers it:
/// ```
/// client ── FrameConnection ── StreamEnd ── BridgedStream ── StreamEnd ── FrameConnection ── server
/// ```
final class BridgedStream {
  let bridge: HTTP2Bridge
  let number: Int
  let request: RequestHead
  let began = NIODeadline.now()
  let client: StreamEnd
  /// The stream to the server; `nil` before it is opened, and after the proxy has dropped it.
  var server: StreamEnd?
  /// The connection to the server that carries the stream.
  var upstream: Upstream?
  /// The head and later pieces that arrived before the stream to the server was opened.
  var early: [StreamEnd.Piece] = []
  /// The relays that delay pieces; `nil` until a piece is delayed.
  var toServer: ByteRelay?
  var toClient: ByteRelay?

  /// Assembles the messages of requests if faults are decided for each message.
  var requests = RequestAssembly()
  /// The bytes of complete messages that wait for the server but have already been credited to the client.
  var waitingBytes = 0
  /// The values of `heldBytes` and `waitingBytes` that the connection has counted.
  var counted = (held: 0, waiting: 0)
  /// Whether the client gets no more credit until complete messages have been sent to the server.
  var isStalled = false
  var questions = MessageCounter(keeping: 0)
  var answers: MessageCounter
  /// Whether the response to each forwarded write will be lost, in order. The handshake of a stream is not included.
  var losses: [Bool] = []
  var hasShakenHands = false
  var hasAnswerHead = false
  /// Whether the client has received the end of the response, or has disconnected.
  var isOver = false
  /// Whether the server's response has ended, or the proxy has responded itself.
  var isAnswerOver = false
  var answerBytes = 0
  /// The final status in the event; `nil` for a response that ended without a status.
  var outcome: RPCStatus?
  var httpStatus: Int?

  init(_ bridge: HTTP2Bridge, _ number: Int, _ client: StreamEnd, _ request: RequestHead) {
    (self.bridge, self.number, self.client, self.request) = (bridge, number, client, request)
    // The content of a listener's responses is kept; each has at most one document. Large requests are counted when
    // they are assembled.
    answers = MessageCounter(keeping: request.method.kind == .listen ? bridge.core.contentLimit : 0)
  }

  var method: ProxiedMethod { request.method }
  var isGRPC: Bool { request.isGRPC }

  /// Handles a response message of a Write stream.
  /// - Returns: whether the response is to be lost.
  func losesAnswer() -> Bool {
    guard method.kind == .writes else { return false }
    if !hasShakenHands {
      hasShakenHands = true
      return false
    }
    return losses.isEmpty ? false : losses.removeFirst()
  }

  /// The bytes that have been credited to the client but not sent to the server.
  var heldBytes: Int { requests.size + waitingBytes }

  /// Whether requests are forwarded message by message, so that a fault can affect a single message.
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

  /// Credits the sender for bytes that have been forwarded.
  func hasSent(_ owed: Int, on end: StreamEnd) {
    if end !== client { return bridge.hasSentRequest(owed, of: self) }
    server?.connection.settle(owed, server ?? end)
  }

  func hasDrained(_ end: StreamEnd) {}

  func hasSaidOut(_ end: StreamEnd) {
    if end === client { bridge.finish(self) }
  }
}

/// A connection to the server, and the streams that wait to begin on it.
final class Upstream {
  enum State { case connecting, open, closed }

  var connection: FrameConnection?
  /// The connection attempts, by their channels.
  var attempts: [ObjectIdentifier: FrameConnection] = [:]
  var state = State.connecting
  /// Whether the connection accepts no more streams.
  var isRetiring = false
  /// The reason why the connection failed, if it is known.
  var failure: RPCStatus?
  private var beginning: CircularBuffer<BridgedStream> = []

  func add(_ stream: BridgedStream) {
    beginning.append(stream)
    beginNext()
  }

  /// Removes and returns the streams that have not begun.
  func takeBeginning() -> [BridgedStream] {
    defer { beginning = [] }
    return Array(beginning)
  }

  /// Begins as many streams as the server accepts, in order.
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

/// Collects the bytes of requests until a message is complete.
struct RequestAssembly {
  static let front = 5

  private var bytes = ByteBuffer()
  /// The number of bytes not yet credited to the client.
  private var owed = 0

  var size: Int { bytes.readableBytes }

  /// - Parameter owed: the bytes of the flow-control window that the client has used, including padding.
  mutating func append(_ more: ByteBuffer, owed: Int) {
    if size == 0 { bytes = more } else { bytes.writeImmutableBuffer(more) }
    self.owed += owed
  }

  /// Takes up to `most` bytes to credit to the client. Returns their number.
  mutating func settle(_ most: Int) -> Int {
    let settled = min(owed, most)
    owed -= settled
    return settled
  }

  /// Removes and returns the bytes of an incomplete message.
  mutating func takeRest() -> ByteBuffer {
    defer { bytes = ByteBuffer() }
    return bytes
  }

  /// - Parameter limit: the maximum size of a message in bytes.
  /// - Returns: the next message with its five-byte prefix; `nil` until it is complete.
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

/// Finds the gRPC messages in the bytes of a stream, and stores the beginning of each message.
struct MessageCounter {
  struct Message {
    /// The beginning of the content. If the content does not exceed the counter's limit, this is the whole content.
    var content: [UInt8]
    /// The size in bytes without the five-byte prefix.
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

  /// - Parameter limit: the number of bytes of each message to store; at least 64 KiB are stored.
  init(keeping limit: Int) { mostKept = max(limit, Self.summarized) }

  /// Whether the next byte is the first byte of a message.
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

/// Ends the connection to a server that sends nothing while calls wait for it, not even a ping response. The client
/// cannot detect this, because the proxy answers its pings.
///
/// After a period without a byte, the handler sends a ping. After the next such period, it ends the connection. This
/// takes two to three periods.
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
