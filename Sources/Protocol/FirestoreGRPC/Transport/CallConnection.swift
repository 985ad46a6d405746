// SPDX-License-Identifier: Apache-2.0
import HTTP2Frames
import NIOCore

/// One HTTP/2 connection with its calls. Handles the peer's settings, keepalive pings and GOAWAY, and closes the
/// connection after a minute without calls. Must be used on the connection's thread.
final class CallConnection: FrameConnectionOwner {
  private static let idleTime = TimeAmount.minutes(1)
  private static let secondLook = TimeAmount.milliseconds(50)

  let loop: any EventLoop
  let signs = SignsOfLife()
  private(set) lazy var frames = FrameConnection(.server, self, .called, handshake: nil)
  private(set) var isInTurn = false
  private let heads: RequestHeads
  private var known: [CallMethod: (head: RequestHead, block: HeaderBlock)] = [:]

  private let keepalive: Connection.Keepalive
  private let greeted: EventLoopPromise<Void>
  private var hasGreeted = false
  /// Called when no more calls may start on the connection.
  private var onRetirement: @Sendable () -> Void = {}
  private var timer: Scheduled<Void>?
  private var idleTimer: Scheduled<Void>?
  private var lastUse = NIODeadline.uptimeNanoseconds(0)
  /// The reason why the connection has ended or is ending; `nil` while it is open.
  private var failure: TransportFailure?
  private(set) var isRetired = false
  /// The calls that are waiting until the peer accepts more calls.
  private var beginning: CircularBuffer<ResponseStream> = []

  init(_ heads: RequestHeads, _ keepalive: Connection.Keepalive, on loop: any EventLoop) {
    (self.heads, self.keepalive, self.loop) = (heads, keepalive, loop)
    greeted = loop.makePromise()
  }

  deinit {
    // This has an effect only if connecting failed; otherwise the promise is already completed.
    greeted.fail(failure ?? .cut(hasGreeted: false))
  }

  // MARK: The beginning

  /// Waits for the peer's settings.
  func greeting(onRetirement: @escaping @Sendable () -> Void) -> EventLoopFuture<Void> {
    self.onRetirement = onRetirement
    if !frames.isClosed { expectSign(since: loop.now) }
    return greeted.futureResult
  }

  func changedSettings(_ connection: FrameConnection) {
    if !hasGreeted {
      hasGreeted = true
      lastUse = loop.now
      watchUse(in: Self.idleTime)
      greeted.succeed(())
    }
    beginNext()
  }

  // MARK: Turns

  func beginTurn() { isInTurn = true }

  func endTurn() {
    isInTurn = false
    frames.flush()
  }

  // MARK: Calls

  private var hasCalls: Bool { !frames.ends.isEmpty || !beginning.isEmpty }

  /// Starts a call. If the peer does not accept more calls yet, queues it.
  /// - Parameter message: the whole request; `nil` if the request is sent in pieces.
  /// - Throws: `notTaken` if the connection accepts no more calls.
  func begin(_ head: RequestHead, _ message: [UInt8]?) throws(TransportFailure) -> CallStream {
    if frames.isWornOut { retire() }
    if isRetired || frames.isClosed { throw .notTaken }
    let inbox = ResponseInbox()
    let stream = ResponseStream(self, inbox, block(of: head), message)
    if let timeout = head.timeout { stream.limit(to: TimeAmount(timeout)) }
    if beginning.isEmpty, frames.takesStream { stream.begin(on: frames) } else { beginning.append(stream) }
    return CallStream(NIOLoopBound(stream, eventLoop: loop), inbox)
  }

  private func block(of head: RequestHead) -> HeaderBlock {
    if let known = known[head.method], known.head == head { return known.block }
    let block = HeaderBlock(heads.headers(of: head))
    known[head.method] = (head, block)
    return block
  }

  private func beginNext() {
    while frames.takesStream, let stream = beginning.popFirst() { stream.begin(on: frames) }
  }

  /// Starts the next queued call, because another call has ended.
  func callEnded(_ stream: ResponseStream) {
    if !beginning.isEmpty {
      beginning.removeAll { $0 === stream }
      beginNext()
    }
    if hasCalls || frames.isClosed { return }
    lastUse = loop.now
    if isRetired { frames.close() }
  }

  /// Checks periodically whether the connection is idle. A periodic check costs less than a check after each call.
  private func watchUse(in time: TimeAmount) {
    idleTimer = loop.assumeIsolated().scheduleTask(in: time) { [weak self] in
      guard let self, !frames.isClosed else { return }
      let idle = hasCalls ? TimeAmount.zero : loop.now - lastUse
      if idle >= Self.idleTime { retire() } else { watchUse(in: Self.idleTime - idle) }
    }
  }

  /// Closes the connection when the current calls have ended.
  func retire() {
    if isRetired { return }
    isRetired = true
    onRetirement()
    if !hasCalls { frames.close() }
  }

  func goesAway(_ connection: FrameConnection, last: Int) {
    retire()
    let waiting = beginning
    beginning = []
    // The peer has not processed these calls, so they may be repeated.
    for stream in waiting { stream.end(.notTaken) }
    for end in connection.ends.values where end.id > last { (end.owner as? ResponseStream)?.end(.notTaken) }
  }

  // MARK: Signs of life

  /// Closes the connection unless bytes arrive within the keepalive timeout. Also used for new connections, because a
  /// proxy may have accepted them although the server is dead.
  private func expectSign(since asked: NIODeadline) {
    schedule(in: TimeAmount(keepalive.timeout)) { connection in
      if connection.signs.came(since: asked) { return connection.watch() }
      // Bytes that have already arrived must be read first, if the thread or the process was delayed.
      connection.schedule(in: Self.secondLook) { connection in
        if connection.signs.came(since: asked) { return connection.watch() }
        connection.failure = connection.failure ?? .silent
        connection.frames.close()
      }
    }
  }

  private func watch() {
    let due = (signs.last ?? loop.now) + TimeAmount(keepalive.time)
    guard due <= loop.now else { return schedule(in: due - loop.now) { $0.watch() } }
    frames.ping()
    expectSign(since: loop.now)
  }

  private func schedule(in time: TimeAmount, _ body: @escaping (CallConnection) -> Void) {
    timer = loop.assumeIsolated().scheduleTask(in: time) { [weak self] in
      if let self, !frames.isClosed { body(self) }
    }
  }

  // MARK: The end

  func failed(_ connection: FrameConnection, _ failure: ConnectionFailure) {
    if self.failure != nil { return }
    self.failure =
      switch failure {
      case .violation(let violation): .violated(violation, hasGreeted: hasGreeted)
      case .cut: .cut(hasGreeted: hasGreeted)
      case .transport(let error): .broken(error)
      }
  }

  func closed(_ connection: FrameConnection) {
    let failure = failure ?? .cut(hasGreeted: hasGreeted)
    self.failure = failure
    timer?.cancel()
    idleTimer?.cancel()
    greeted.fail(failure)
    retire()
    let waiting = beginning
    beginning = []
    for stream in waiting { stream.end(.notTaken) }
    for end in connection.ends.values { (end.owner as? ResponseStream)?.end(failure) }
  }

  /// Does nothing, because a server starts no streams.
  func open(_ end: StreamEnd, _ block: HeaderBlock, isLast: Bool) {}
}

extension FrameLimits {
  /// The maximum number of frames of one kind that a backend may send within half a minute. The limit is high, because
  /// a backend uses pings to measure the connection, and resets each call that it answers early.
  private static let mostFrames = 20_000

  /// The limits for a backend. Backpressure applies to each stream separately, so a slow reader does not block the
  /// others.
  fileprivate static let called = FrameLimits(
    streams: 0, streamWindow: 4 << 20, connectionWindow: 1 << 30, headerBytes: 64 << 10, controlFrames: mostFrames,
    brokenStreams: mostFrames, windowUpdates: mostFrames)
}

/// Records the time at which the peer's last bytes arrived, including TLS records.
final class SignsOfLife: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private(set) var last: NIODeadline?

  func came(since time: NIODeadline) -> Bool { last.map { $0 >= time } ?? false }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    last = context.eventLoop.now
    context.fireChannelRead(data)
  }
}
