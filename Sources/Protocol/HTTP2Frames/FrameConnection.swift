// SPDX-License-Identifier: Apache-2.0
package import NIOCore

/// A connection that uses HTTP/2 with its peer, either as a server or as a client:
/// ```
/// bytes ─► FrameConnection ─┬─ connection events ──────► FrameConnectionOwner
///                           └─ StreamEnd ──► StreamOwner
/// ```
/// The connection handles stream numbers, header tables, flow control, settings and pings. A stream consists of only
/// two objects. Processing a repeated block of headers takes only two lookups (`HeaderReader`, `HeaderWriter`). Data is
/// copied once, into the output buffer. At the end of a read, one system call sends the output.
///
/// The peer gets flow-control credit for bytes when the owner reports that it has processed them (`settle`). If the
/// peer does not read, the system eventually accepts no more bytes to send; such bytes wait in `StreamEnd`.
///
/// The reason for this module is speed. With swift-nio-http2, which creates a channel for each stream, a call takes the
/// server 34–38 µs of processor time. With this module, a call takes 10–11 µs. In the proxy, the time for a call is
/// reduced to a third. The module still uses the HPACK code of swift-nio-http2.
///
/// The threats that were considered, and their mitigations:
/// - Floods: `FrameLimits` bounds control frames, broken streams, window updates, empty frames and unread replies. A
///   PING counts only if no frame of a stream was sent or received since the previous PING.
/// - Large headers: if a header list exceeds the announced size, its stream is rejected. If it exceeds 64 KiB, the
///   connection ends.
/// - Invalid frames and fields: each rule that a peer can break has a row in `HTTP2ConformanceTests` and
///   `ResponseConformanceTests`. PROTOCOL §0.7 lists the rules that are not enforced. `.ci/fuzz` fuzzes both ends.
/// - Numbers from the peer: each number is checked against a bound before it is used in arithmetic. A connection stores
///   nothing for streams that have ended.
///
/// Return to swift-nio-http2 if a protocol violation in this module loses a user's data, or if a peer can cause a
/// second trap. Also return if swift-nio-http2 needs at most 15 µs per call.
package final class FrameConnection: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  package enum Peer { case client, server }

  /// The time that the peer has to read the reason for a failure before the connection is closed.
  private static let drainTime = TimeAmount.seconds(2)
  /// The maximum number of collected bytes. At this number, they are sent before the end of the turn.
  private static let mostGathered = 256 << 10

  package let peer: Peer
  package let limits: FrameLimits
  /// The object that is notified of events, until the connection is closed.
  package private(set) var owner: (any FrameConnectionOwner)?
  private let handshake: TimeAmount?
  private(set) var context: ChannelHandlerContext?
  /// Whether the connection no longer reads or sends.
  package private(set) var isClosed = false
  /// The reason why the connection could not continue; `nil` if there is none.
  package private(set) var failure: ConnectionFailure?

  // MARK: The state of hearing

  var reader: FrameReader
  var headers: HeaderReader
  var unfinished: UnfinishedHeaders?
  package var ends: [Int: StreamEnd] = [:]
  /// The highest number of the streams that the client has opened. The client is either the peer or this side.
  var lastID = -1
  var hasSettings = false
  var allowance: Int
  var credit = 0
  var emptyFrames = 0
  var unreadAnswers = 0
  var controlFrames = FrameRate()
  var brokenStreams = FrameRate()
  /// The number of window updates from the peer since the last frame with data or headers, minus the number that is
  /// allowed in advance because of data that this side has sent.
  var windowUpdates = 0
  /// Whether DATA or HEADERS were sent or received since the peer's last PING.
  var forgivesPing = false
  private var isGreeted = false
  private var deadline: Scheduled<Void>?

  // MARK: The state of saying

  var writer = HeaderWriter()
  var gathered = ByteBuffer()
  private var isFlushScheduled = false
  package private(set) var isWritable = true
  var room = FrameLimits.initialWindow
  var initialRoom = FrameLimits.initialWindow
  /// The maximum number of concurrent streams that the peer allows.
  package var mostStreams = Int.max
  var line: CircularBuffer<StreamEnd> = []

  // MARK: The state of its end

  var ending = Ending.none
  let idle: TimeAmount?
  var wasUsed = true
  var watch: Scheduled<Void>?

  /// - Parameters:
  ///   - handshake: the time within which the peer must send its settings; `nil` if the owner enforces a limit.
  ///   - idle: the time after which a connection without streams is closed. Closing can take up to twice as long. `nil`
  ///     to never close such a connection.
  package init(
    _ peer: Peer, _ owner: any FrameConnectionOwner, _ limits: FrameLimits, handshake: TimeAmount?,
    idle: TimeAmount? = nil
  ) {
    (self.peer, self.owner, self.limits, self.handshake, self.idle) = (peer, owner, limits, handshake, idle)
    reader = FrameReader(awaitsPreface: peer == .client)
    headers = HeaderReader(mostBytes: limits.unpackedBytes)
    allowance = max(limits.connectionWindow, FrameLimits.initialWindow)
  }

  /// The channel; `nil` after the channel is closed.
  package var channel: (any Channel)? { context?.channel }

  // MARK: The channel

  package func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { greet(context) }
  }

  package func channelActive(context: ChannelHandlerContext) {
    greet(context)
    context.fireChannelActive()
  }

  private func greet(_ context: ChannelHandlerContext) {
    if isGreeted { return }
    isGreeted = true
    deadline = handshake.map { handshake in
      context.eventLoop.assumeIsolated().scheduleTask(in: handshake) { self.missSettings(within: handshake) }
    }
    if peer == .server { gathered.writeBytes(FrameReader.preface) }
    gathered.writeSettings([
      (.initialWindowSize, limits.streamWindow), (.maxHeaderListSize, limits.headerBytes),
      peer == .client ? (.maxConcurrentStreams, limits.streams) : (.enablePush, 0),
    ])
    if allowance > FrameLimits.initialWindow {
      gathered.writeWindowUpdate(allowance - FrameLimits.initialWindow, stream: 0)
    }
    touch()
    watchUse()
  }

  private func missSettings(within handshake: TimeAmount) {
    if hasSettings { return }
    let seconds = handshake.nanoseconds / 1_000_000_000
    fail(HTTP2Violation(.settingsTimeout, "no HTTP/2 settings within \(seconds) seconds"))
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isClosed { return }
    reader.append(unwrapInboundIn(data))
    owner?.beginTurn()
    do throws(HTTP2Violation) {
      while !isClosed, let frame = try reader.next() { try hear(frame) }
      if hasSettings, let deadline {
        deadline.cancel()
        self.deadline = nil
      }
    } catch { fail(error) }
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    owner?.endTurn()
    context.fireChannelReadComplete()
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    isWritable = context.channel.isWritable
    if isWritable {
      unreadAnswers = 0
      pump()
      owner?.hasRoom(self)
    }
    context.fireChannelWritabilityChanged()
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if !isClosed { note(.transport(error)) }
    end()
    context.close(promise: nil)
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { owner?.quiesce(self) }
    context.fireUserInboundEventTriggered(event)
  }

  package func channelInactive(context: ChannelHandlerContext) {
    let isCut = reader.isWithin || unfinished != nil || !hasSettings
    if !isClosed, isCut { note(.cut(isWithin: hasSettings)) }
    lose()
    context.fireChannelInactive()
  }

  package func handlerRemoved(context: ChannelHandlerContext) { lose() }

  /// Releases everything, because the channel is closed.
  private func lose() {
    end()
    watch?.cancel()
    context = nil
    guard let owner else { return }
    self.owner = nil
    owner.closed(self)
    for end in ends.values { end.detach() }
    ends = [:]
  }

  // MARK: The end

  /// Ends the connection because the peer violated the protocol, and sends the peer the reason:
  /// ```
  /// GOAWAY ──► end of output ──► drop all bytes that arrive ──► the peer closes, or 2 s pass ──► close
  /// ```
  /// If the connection were closed while received bytes are unread, the kernel would reset it. The peer might then not
  /// receive the reason.
  package func fail(_ violation: HTTP2Violation) {
    guard !isClosed, let context else { return }
    gathered.writeGoAway(violation.code, violation.description, last: peer == .client ? max(0, lastID) : 0)
    let (bytes, channel) = (gathered, context.channel)
    end()
    note(.violation(violation))
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { _ in channel.close(mode: .output, promise: nil) }
    context.writeAndFlush(wrapOutboundOut(bytes), promise: written)
    lose()
    if channel.isActive {
      watch = channel.eventLoop.assumeIsolated().scheduleTask(in: Self.drainTime) { channel.close(promise: nil) }
    }
  }

  private func note(_ failure: ConnectionFailure) {
    self.failure = failure
    owner?.failed(self, failure)
  }

  package func close() {
    flush()
    end()
    context?.close(promise: nil)
  }

  func end() {
    isClosed = true
    deadline?.cancel()
    gathered = ByteBuffer()
    line = []
    // A connection closed during a read gets no `channelReadComplete`.
    owner?.endTurn()
  }

  // MARK: Bytes that go

  /// Schedules the collected bytes to be sent at the end of the current read, or in the next turn of the loop.
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

  package func flush() {
    guard gathered.readableBytes > 0, !isClosed, let context else { return }
    let bytes = gathered
    gathered = ByteBuffer()
    context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
  }
}

/// An incomplete block of headers (RFC 9113, 6.10).
struct UnfinishedHeaders {
  var stream: Int
  var isLast: Bool
  var bytes: ByteBuffer
}

// The graceful shutdown of a server's connection (RFC 9113, 6.8).

extension FrameConnection {
  enum Ending { case none, announced, ending }

  /// The content of the PING that is part of a shutdown. A server sends no other PING.
  private static let farewell: UInt64 = 0x4865_6172_7468
  /// The time within which a peer must answer the PING of a shutdown. After the last stream, the peer has the same time
  /// to read the remaining bytes.
  private static let patience = TimeAmount.seconds(20)

  /// Ends the connection after its last stream:
  /// ```
  /// GOAWAY of the last possible stream, PING ──► its answer ──► GOAWAY of the last stream ──► close after it
  /// ```
  /// Streams that the client opens before it has read the first GOAWAY are also served. If the client does not answer
  /// the PING, the connection is closed.
  package func endInOrder() {
    guard ending == .none, !isClosed, let context else { return }
    ending = .announced
    gathered.writeGoAway(.noError, "", last: Frame.largest)
    gathered.writeFrame(.ping, 0, stream: 0, length: 8)
    gathered.writeInteger(Self.farewell)
    touch()
    wait(context) { connection in
      if connection.ending == .announced { connection.close() }
    }
  }

  /// Handles the answer to a PING.
  func receiveAnswer(_ content: ByteBuffer) {
    guard ending == .announced, content.getInteger(at: content.readerIndex, as: UInt64.self) == Self.farewell else {
      return
    }
    ending = .ending
    gathered.writeGoAway(.noError, "", last: max(0, lastID))
    touch()
    closeIfDone()
  }

  /// Closes the connection if it is shutting down and its last stream has ended.
  func closeIfDone() {
    guard ending == .ending, ends.isEmpty, !isClosed, let context else { return }
    let (bytes, channel) = (gathered, context.channel)
    end()
    // The connection is closed after the write, since closing discards bytes that the system has not accepted.
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { _ in channel.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(bytes), promise: written)
    wait(context) { $0.context?.close(promise: nil) }
  }

  /// Checks periodically, instead of after each stream, whether the connection is in use. Ends the connection if it was
  /// not used since the last check.
  func watchUse() {
    guard let idle, ending == .none, let context else { return }
    watch = context.eventLoop.assumeIsolated().scheduleTask(in: idle) { [weak self] in
      guard let self, !self.isClosed else { return }
      if self.ends.isEmpty, !self.wasUsed { return self.endInOrder() }
      self.wasUsed = false
      self.watchUse()
    }
  }

  private func wait(_ context: ChannelHandlerContext, _ body: @escaping (FrameConnection) -> Void) {
    watch?.cancel()
    watch = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in
      if let self { body(self) }
    }
  }
}
