// SPDX-License-Identifier: Apache-2.0
import HTTP2Frames
package import NIOCore
import Synchronization

/// The memory that the server uses for one connection. Used on the connection's thread, except for `turn`.
///
/// ```
/// requests   heads and bodies of unanswered requests         above `requestBytes` the sending call is reset
/// responses  documents that calls have read, messages that   above `responseBytes` no call begins its work
///            wait for the client to read
/// ```
///
/// While the server's total is high (`ServerBudget.isTight`), the limit is an eighth of `responseBytes`. Then clients
/// that read still get responses, and clients that do not read get no more.
package final class ConnectionBudget: Sendable {
  private struct State {
    var requests = 0
    var responses = 0
    var turns = 0
    var waiting: CircularBuffer<(call: AsyncStream<Turn>.Continuation, bytes: Int)> = []
    /// The bytes reserved for calls that have not counted their own response bytes yet.
    var reserved = 0
    /// Whether the connection waits in the server's `line` until the server admits its calls.
    var isInLine = false
    /// Actions of listeners and prompt calls that wait until the limit allows more responses.
    var listeners: [() -> Void] = []
  }

  /// The maximum number of concurrent turns: calls that have started their work and not yet sent a message.
  private static let mostTurns = 32

  fileprivate let loop: any EventLoop
  private let limits: ConnectionLimits
  private let server: ServerBudget
  private let state: NIOLoopBoundBox<State>

  package init(_ limits: ConnectionLimits, _ server: ServerBudget, on loop: any EventLoop) {
    self.limits = limits
    self.server = server
    self.loop = loop
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// - Parameter overflow: ends the connection; called if all connections together use too much memory and this one
  ///   uses the most.
  package func open(overflow: @escaping () -> Void) { server.join(self, overflow: overflow) }

  package func close() {
    server.leave(self)
    for waiting in state.value.waiting { waiting.call.finish() }
    state.value.waiting.removeAll()
    state.value.listeners.removeAll()
  }

  /// Whether so many response bytes are waiting that no call should start its work.
  var isFull: Bool {
    state.value.responses + state.value.reserved
      >= (server.isTight ? limits.responseBytes / 8 : limits.responseBytes)
  }

  /// Calls `listener` once, when the limit allows more responses. Until then the caller must not read from the backend.
  func wait(_ listener: @escaping () -> Void) { state.value.listeners.append(listener) }

  /// The current bytes of requests and of responses.
  var held: (requests: Int, responses: Int) { (state.value.requests, state.value.responses) }

  /// - Returns: false if the bytes exceed the limit; they are then not counted.
  package func addRequest(_ bytes: Int) -> Bool {
    if state.value.requests + bytes > limits.requestBytes { return false }
    state.value.requests += bytes
    server.change(self, by: bytes)
    return true
  }

  package func removeRequest(_ bytes: Int) {
    state.value.requests -= bytes
    server.change(self, by: -bytes)
  }

  package func addResponse(_ bytes: Int) {
    state.value.responses += bytes
    server.change(self, by: bytes)
  }

  package func removeResponse(_ bytes: Int) {
    state.value.responses -= bytes
    server.change(self, by: -bytes)
    if isFull { return }
    admit(fromLine: false)
    if state.value.listeners.isEmpty { return }
    let listeners = state.value.listeners
    state.value.listeners = []
    for listener in listeners { listener() }
  }

  /// Suspends until a call may start its work. The turn ends with a call of `end`, or when its last reference is
  /// released.
  /// - Parameter bytes: the bytes to reserve until the turn ends. They represent the memory of the call that is not
  ///   counted yet.
  /// - Throws: `CancellationError` if the task is canceled or the connection closes first.
  package func turn(reserving bytes: Int) async throws -> Turn {
    let (turns, continuation) = AsyncStream.makeStream(of: Turn.self, bufferingPolicy: .bufferingOldest(1))
    loop.execute {
      self.state.value.waiting.append((continuation, bytes))
      self.admit(fromLine: false)
    }
    for await turn in turns { return turn }
    throw CancellationError()
  }

  /// Admits waiting calls. A connection that waits in the server's `line` is admitted only by the server.
  fileprivate func admit(fromLine: Bool = true) {
    if state.value.isInLine, !fromLine { return }
    state.value.isInLine = false
    while !isFull, state.value.turns < Self.mostTurns, let (call, bytes) = state.value.waiting.first {
      guard server.reserve(bytes) else {
        state.value.isInLine = true
        return server.wait(self)
      }
      state.value.waiting.removeFirst()
      state.value.turns += 1
      state.value.reserved += bytes
      // A call that has ended drops the turn, which ends it.
      call.yield(Turn(self, bytes))
      call.finish()
    }
  }

  fileprivate func end(_ bytes: Int) {
    loop.execute {
      self.state.value.turns -= 1
      self.state.value.reserved -= bytes
      self.removeResponse(0)
      self.server.release(bytes)
    }
  }

  fileprivate func onLoop(_ body: @escaping @Sendable () -> Void) {
    if loop.inEventLoop { body() } else { loop.execute(body) }
  }
}

/// Counts the bytes of documents that one call has read but not sent.
package final class HeldBytes: Sendable {
  private let budget: ConnectionBudget
  /// The number of bytes of memory that are charged per byte of document data.
  private let factor: Int
  private let count: NIOLoopBoundBox<Int>

  package init(_ budget: ConnectionBudget, factor: Int = 1) {
    (self.budget, self.factor) = (budget, factor)
    count = .makeBoxSendingValue(0, eventLoop: budget.loop)
  }

  /// Replaces the count. The call must set the count to 0 before the call ends.
  package func replace(_ bytes: Int) {
    budget.onLoop { [self] in
      let before = count.value
      count.value = factor * bytes
      if count.value > before {
        budget.addResponse(count.value - before)
      } else if count.value < before {
        budget.removeResponse(before - count.value)
      }
    }
  }
}

/// A call's permission to do its work. At most `mostTurns` calls of a connection have this permission at the same time.
package final class Turn: Sendable {
  private let budget: ConnectionBudget
  private let bytes: Int
  private let hasEnded = Atomic(false)

  fileprivate init(_ budget: ConnectionBudget, _ bytes: Int) { (self.budget, self.bytes) = (budget, bytes) }

  deinit { end() }

  /// Ends the turn because the response has begun. From then on the call counts the memory that it uses.
  package func end() {
    if !hasEnded.exchange(true, ordering: .relaxed) { budget.end(bytes) }
  }
}

/// The memory that the server uses for all connections and WebChannel sessions. Above the limit, the server ends the
/// connections that use the most, so that the clients that cause a flood are disconnected. Used only on the
/// connections' thread.
package final class ServerBudget: Sendable {
  private struct Member {
    var held = 0
    /// Ends the connection; set to `nil` when it is called.
    var overflow: (() -> Void)?
  }

  private struct State {
    var members: [ObjectIdentifier: Member] = [:]
    var total = 0
    /// The bytes reserved for calls that have not counted their own bytes yet.
    var reserved = 0
    /// The connections whose calls wait until other calls end their turns.
    var line: CircularBuffer<ConnectionBudget> = []
    /// The part of `total` that belongs to connections which are being ended.
    var ending = 0
    /// The largest value of `total` since the end of the last flood.
    var peak = 0
  }

  /// The smallest peak of memory, in bytes, that counts as a flood. After a flood, it is worthwhile to let the
  /// allocator return unused memory to the system, although this takes milliseconds.
  private static let flood = 32 << 20

  private let limit: Int
  private let afterFlood: @Sendable () -> Void
  private let state: NIOLoopBoundBox<State>

  /// - Parameters:
  ///   - loop: the thread of all connections.
  ///   - limit: the maximum memory in bytes.
  ///   - afterFlood: called on the loop after most of a large amount of memory was released. A standalone program can
  ///     then return the memory to the system.
  package init(on loop: any EventLoop, limit: Int, afterFlood: @escaping @Sendable () -> Void = {}) {
    self.limit = limit
    self.afterFlood = afterFlood
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  package var total: Int { state.value.total }
  /// Whether the total is high. Each connection is then limited to an eighth of its usual limit.
  var isTight: Bool { state.value.total > limit / 4 }

  /// - Parameter overflow: ends the connection.
  package func join(_ connection: AnyObject, overflow: @escaping () -> Void) {
    state.value.members[ObjectIdentifier(connection)] = Member(overflow: overflow)
  }

  package func leave(_ connection: AnyObject) {
    guard let member = state.value.members.removeValue(forKey: ObjectIdentifier(connection)) else { return }
    if member.overflow == nil { state.value.ending -= member.held }
    add(-member.held)
  }

  /// - Parameter bytes: the change of the memory use, negative if memory was released.
  package func change(_ connection: AnyObject, by bytes: Int) {
    let id = ObjectIdentifier(connection)
    guard let member = state.value.members[id] else { return }
    state.value.members[id]?.held += bytes
    if member.overflow == nil { state.value.ending += bytes }
    add(bytes)
    if bytes > 0, state.value.total - state.value.ending > limit { endLargest() }
  }

  /// - Returns: false if the calls of all connections have already reserved too much.
  fileprivate func reserve(_ bytes: Int) -> Bool {
    if state.value.reserved > 0, state.value.reserved + bytes > limit / 4 { return false }
    state.value.reserved += bytes
    return true
  }

  fileprivate func wait(_ connection: ConnectionBudget) { state.value.line.append(connection) }

  fileprivate func release(_ bytes: Int) {
    state.value.reserved -= bytes
    // Tries each waiting connection once. A connection moves to the end of the line if there is no room.
    for _ in 0..<state.value.line.count where state.value.reserved < limit / 4 {
      state.value.line.popFirst()?.admit()
    }
  }

  private func add(_ bytes: Int) {
    state.value.total += bytes
    state.value.peak = max(state.value.peak, state.value.total)
    if state.value.peak >= Self.flood, state.value.total < state.value.peak / 16 {
      state.value.peak = state.value.total
      state.eventLoop.execute(afterFlood)
    }
  }

  /// Ends the largest connections until the remaining ones are within the limit.
  private func endLargest() {
    while state.value.total - state.value.ending > limit,
      let (id, member) = state.value.members.filter({ $0.value.overflow != nil }).max(by: {
        $0.value.held < $1.value.held
      })
    {
      state.value.members[id]?.overflow = nil
      state.value.ending += member.held
      member.overflow?()
    }
  }
}

/// The limits of one connection.
package struct ConnectionLimits: Sendable {
  /// The maximum size of a request in bytes, the same as in Cloud Firestore.
  package static let requestMessageBytes = 11_534_336
  /// The maximum size of the head of a request in bytes.
  package static let headBytes = 16 << 10
  /// The maximum memory of all connections together in bytes.
  package static let totalBytes = 448 << 20

  /// The maximum number of concurrent calls.
  let streams: Int
  /// The number of bytes that a client may send on one call before the server has read them.
  let windowBytes: Int
  /// The maximum size of all unanswered requests in bytes. A few requests of the maximum size fit.
  let requestBytes: Int
  /// The maximum number of response bytes that the client has not read. At this number, further calls wait.
  let responseBytes: Int
  /// The maximum number of consecutive window updates without data or headers in between.
  let windowUpdates: Int
  /// The time within which a client must start its protocol, including TLS.
  package let handshake = TimeAmount.seconds(30)
  /// The time after which a connection without a call is closed. Closing can take up to twice this time.
  let idle = TimeAmount.minutes(5)

  /// The limits on a port that only this machine can reach. They are generous: one connection may carry thousands of
  /// listeners that end together, and gRPC's core pings many times a second while it measures the connection.
  package static let loopback = ConnectionLimits(
    streams: 8_192, windowBytes: 1 << 20, requestBytes: 64 << 20, responseBytes: 16 << 20, windowUpdates: 16_384)

  /// The limits on a port that other machines can reach.
  package static let network = ConnectionLimits(
    streams: 100, windowBytes: 65_535, requestBytes: 32 << 20, responseBytes: 8 << 20, windowUpdates: 1_000)

  package init(streams: Int, windowBytes: Int, requestBytes: Int, responseBytes: Int, windowUpdates: Int) {
    self.streams = streams
    self.windowBytes = windowBytes
    self.requestBytes = requestBytes
    self.responseBytes = responseBytes
    self.windowUpdates = windowUpdates
  }

  /// The limits that apply to HTTP/2 frames.
  var frames: FrameLimits {
    let isGenerous = streams > Self.network.streams
    return FrameLimits(
      streams: streams, streamWindow: windowBytes, connectionWindow: windowBytes, headerBytes: Self.headBytes,
      controlFrames: isGenerous ? streams : 200, brokenStreams: isGenerous ? 2 * streams : 200,
      windowUpdates: windowUpdates)
  }
}
