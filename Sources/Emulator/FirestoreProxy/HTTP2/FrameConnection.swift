// SPDX-License-Identifier: Apache-2.0
import Glibc
import NIOCore
import TransportSecurity

/// One side of a bridge: a connection that speaks HTTP/2 with its peer, as a server to a client or as a client to a server.
///
/// Everything about a connection stays between it and its peer: the numbers of streams, the tables of headers, the room for
/// bytes, settings and pings. So the streams of one side can begin, wait and end in another order than those of the other
/// side, or have none there: a fault of one of them changes nothing for the rest. A block of headers that comes again costs
/// two look-ups (`HeaderReader`, `HeaderWriter`), and data are copied once, from the bytes that came to those that go, which
/// leave with one system call at the end of what was read.
///
/// The peer gets room for more bytes when those that it sent have been handed to the system on the other side. Where that
/// does not take them, because its peer does not read, they wait here (`StreamEnd`), and this peer waits.
final class FrameConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  enum Peer { case client, server }

  /// The bytes that a peer may send on a stream, and on all streams of a connection, before they are passed on.
  static let streamWindow = 1 << 20
  static let connectionWindow = 8 << 20
  /// A connection begins with room for so many bytes, and so do its streams until the peer says otherwise.
  static let initialWindow = 65_535
  static let mostHeaderBytes = 64 << 10
  static let mostStreams = 8_192
  /// The bytes of one turn beyond which nothing is gained by waiting for its end.
  private static let mostGathered = 256 << 10

  let peer: Peer
  private(set) weak var owner: (any FrameConnectionOwner)?
  private let handshake: TimeAmount
  var context: ChannelHandlerContext?
  /// Whether nothing is heard or said any more.
  private(set) var isClosed = false
  /// The reason why it could not go on.
  private(set) var failure: ConnectionFailure?

  // MARK: The state of hearing

  var reader: FrameReader
  var headers = HeaderReader(mostBytes: FrameConnection.mostHeaderBytes)
  var unfinished: UnfinishedHeaders?
  var ends: [Int: StreamEnd] = [:]
  /// The highest number of a stream: of the client's own choice, or of the proxy's.
  var lastID = -1
  var hasSettings = false
  var allowance = FrameConnection.connectionWindow
  var credit = 0
  var emptyFrames = 0
  var unreadAnswers = 0
  private var deadline: Scheduled<Void>?

  // MARK: The state of saying

  var writer = HeaderWriter()
  var gathered = ByteBuffer()
  private var isFlushScheduled = false
  private(set) var isWritable = true
  var room = FrameConnection.initialWindow
  var initialRoom = FrameConnection.initialWindow
  /// The most streams that the peer takes at a time.
  var mostStreams = Int.max
  var line: CircularBuffer<StreamEnd> = []

  /// - Parameter handshake: the time within which the peer has to send its settings.
  init(_ peer: Peer, _ owner: any FrameConnectionOwner, handshake: TimeAmount) {
    (self.peer, self.owner, self.handshake) = (peer, owner, handshake)
    reader = FrameReader(awaitsPreface: peer == .client)
  }

  // MARK: The channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { greet(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    greet(context)
    context.fireChannelActive()
  }

  private func greet(_ context: ChannelHandlerContext) {
    if deadline != nil { return }
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: handshake) { self.missSettings() }
    if peer == .server { gathered.writeBytes(FrameReader.preface) }
    gathered.writeSettings([
      (.initialWindowSize, Self.streamWindow), (.maxHeaderListSize, Self.mostHeaderBytes),
      peer == .client ? (.maxConcurrentStreams, Self.mostStreams) : (.enablePush, 0),
    ])
    gathered.writeWindowUpdate(Self.connectionWindow - Self.initialWindow, stream: 0)
    touch()
  }

  private func missSettings() {
    if hasSettings { return }
    let seconds = handshake.nanoseconds / 1_000_000_000
    fail(HTTP2Violation(.settingsTimeout, "nothing that HTTP/2 begins with within \(seconds) seconds"))
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    reader.append(unwrapInboundIn(data))
    owner?.beginTurn()
    do throws(HTTP2Violation) {
      while !isClosed, let frame = try reader.next() { try hear(frame) }
      if hasSettings { deadline?.cancel() }
    } catch { fail(error) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    owner?.endTurn()
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    isWritable = context.channel.isWritable
    if isWritable {
      unreadAnswers = 0
      pump()
    }
    context.fireChannelWritabilityChanged()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if !isClosed { note(.transport(error)) }
    end()
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    let isCut = reader.isWithin || unfinished != nil || !hasSettings
    if !isClosed, isCut { note(.cut(isWithin: hasSettings)) }
    end()
    self.context = nil
    owner?.closed(self)
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    end()
    self.context = nil
  }

  // MARK: The end

  /// Ends the connection because of what the peer sent, and tells it why.
  func fail(_ violation: HTTP2Violation) {
    if isClosed { return }
    gathered.writeGoAway(violation, last: peer == .client ? max(0, lastID) : 0)
    flush()
    note(.violation(violation))
    close()
  }

  private func note(_ failure: ConnectionFailure) {
    self.failure = failure
    owner?.failed(self, failure)
  }

  func close() {
    flush()
    end()
    context?.close(promise: nil)
  }

  private func end() {
    isClosed = true
    deadline?.cancel()
    gathered = ByteBuffer()
    line = []
    // A connection that is closed while it is read from does not say that its reading is complete.
    owner?.endTurn()
  }

  // MARK: Bytes that go

  /// Sees to it that what is gathered is sent: at the end of what is being read, or at the next turn of the loop.
  func touch() {
    if gathered.readableBytes >= Self.mostGathered { return flush() }
    if owner?.isInTurn == true || isFlushScheduled { return }
    guard let context else { return }
    isFlushScheduled = true
    context.eventLoop.assumeIsolated().execute {
      self.isFlushScheduled = false
      self.flush()
    }
  }

  func flush() {
    guard gathered.readableBytes > 0, !isClosed, let context else { return }
    let bytes = gathered
    gathered = ByteBuffer()
    context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
  }
}

/// A block of headers whose end has not come (RFC 9113, 6.10).
struct UnfinishedHeaders {
  var stream: Int
  var isLast: Bool
  var bytes: ByteBuffer
}

/// The reason for which a connection cannot go on.
enum ConnectionFailure {
  case violation(HTTP2Violation)
  /// The peer closed within a frame, or before it had sent its settings.
  case cut(isWithin: Bool)
  case transport(any Error)

  /// The words that go on from the peer's name.
  var words: String {
    switch self {
    case .violation(let violation): "broke the rules of HTTP/2: it sent \(violation)"
    case .cut(isWithin: true): "closed the connection in the middle of a frame"
    case .cut(isWithin: false): "closed the connection before HTTP/2 had begun"
    case .transport(let error as TLSFailure): "cannot be spoken with over TLS: \(error)"
    case .transport(let error as IOError): "broke the connection: \(String(cString: strerror(error.errnoCode)))"
    case .transport(let error): "broke the connection: \(error)"
    }
  }
}

/// The bridge to which connections belong.
protocol FrameConnectionOwner: AnyObject {
  /// Whether something is being read, at the end of which everything is sent.
  var isInTurn: Bool { get }
  /// Whether the peer is to hear nothing.
  var isSilent: Bool { get }
  func beginTurn()
  func endTurn()

  /// The client begins a stream.
  func open(_ end: StreamEnd, _ block: HeaderBlock, isLast: Bool)
  func receive(_ block: HeaderBlock, isLast: Bool, on end: StreamEnd)
  /// - Parameter size: the bytes with padding.
  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool, on end: StreamEnd)
  /// The peer has broken a stream off, which the connection knows no more.
  func receive(_ code: HTTP2Code, on end: StreamEnd, _ stream: BridgedStream)
  /// The peer takes another number of streams.
  func changedSettings(_ connection: FrameConnection)
  /// The server takes no more streams, and knows none behind a number.
  func goesAway(_ connection: FrameConnection, last: Int)
  /// The last piece of a stream has gone.
  func hasSaidOut(_ end: StreamEnd)
  func failed(_ connection: FrameConnection, _ failure: ConnectionFailure)
  func closed(_ connection: FrameConnection)
}
