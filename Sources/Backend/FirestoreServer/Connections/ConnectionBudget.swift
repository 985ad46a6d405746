// SPDX-License-Identifier: Apache-2.0
import CAllocator
package import NIOCore
import Synchronization

/// The memory that one connection makes the server hold: requests that are not answered yet, and responses that wait
/// for the client to read. Used on the connection's thread but for `turn`.
///
/// ```
/// requests   more than `requestBytes`    the call that sends on is reset
/// responses  more than `responseBytes`   calls wait with their work until the client has read
/// ```
package final class ConnectionBudget: Sendable {
  private struct State {
    var requests = 0
    var responses = 0
    var turns = 0
    var waiting: CircularBuffer<AsyncStream<Turn>.Continuation> = []
    /// Actions that have listeners deliver their messages.
    var listeners: [() -> Void] = []
  }

  /// The most calls with a task each that are between their request and the first message of their response.
  private static let mostTurns = 32

  private let loop: any EventLoop
  private let limits: ConnectionLimits
  private let server: ServerBudget
  private let state: NIOLoopBoundBox<State>

  package init(_ limits: ConnectionLimits, _ server: ServerBudget, on loop: any EventLoop) {
    self.limits = limits
    self.server = server
    self.loop = loop
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// - Parameter overflow: ends the connection, when all of them together hold too much and this one holds most.
  package func open(overflow: @escaping () -> Void) { server.join(self, overflow: overflow) }

  package func close() {
    server.leave(self)
    for call in state.value.waiting { call.finish() }
    state.value.waiting.removeAll()
    state.value.listeners.removeAll()
  }

  /// Whether so many bytes of responses wait that no call should be worked on.
  var isFull: Bool { state.value.responses >= limits.responseBytes }

  /// Calls a listener once there is room; until then the listener takes nothing from the backend.
  func wait(_ listener: @escaping () -> Void) { state.value.listeners.append(listener) }

  /// The numbers of bytes of requests and of responses that are held now.
  var held: (requests: Int, responses: Int) { (state.value.requests, state.value.responses) }

  /// - Returns: false if there is no room for the bytes; then they do not count.
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

  /// - Returns: whether there is room for more responses, and was none before.
  package func removeResponse(_ bytes: Int) -> Bool {
    let wasFull = isFull
    state.value.responses -= bytes
    server.change(self, by: -bytes)
    if isFull { return false }
    admit()
    if !state.value.listeners.isEmpty {
      let listeners = state.value.listeners
      state.value.listeners = []
      for listener in listeners { listener() }
    }
    return wasFull
  }

  /// Suspends until a call may be worked on. The turn ends with `end`, or with the last reference to it.
  /// - Throws: `CancellationError` if the task is cancelled or the connection closed meanwhile.
  func turn() async throws -> Turn {
    let (turns, continuation) = AsyncStream.makeStream(of: Turn.self, bufferingPolicy: .bufferingOldest(1))
    loop.execute {
      self.state.value.waiting.append(continuation)
      self.admit()
    }
    for await turn in turns { return turn }
    throw CancellationError()
  }

  private func admit() {
    while !isFull, state.value.turns < Self.mostTurns, let call = state.value.waiting.popFirst() {
      state.value.turns += 1
      // A turn that is dropped because its call has gone ends by itself.
      call.yield(Turn(self))
      call.finish()
    }
  }

  fileprivate func end() {
    loop.execute {
      self.state.value.turns -= 1
      self.admit()
    }
  }
}

/// A call's right to be worked on.
final class Turn: Sendable {
  private let budget: ConnectionBudget
  private let hasEnded = Atomic(false)

  fileprivate init(_ budget: ConnectionBudget) { self.budget = budget }

  deinit { end() }

  /// Ends the turn, because the response is on its way: the memory of the response counts from now on.
  func end() {
    if !hasEnded.exchange(true, ordering: .relaxed) { budget.end() }
  }
}

/// The memory that all connections and sessions of WebChannel together make the server hold. When it is too much, the
/// one that has most of it is ended: a flood then costs the client that sends it, not the others. Used on the
/// connections' thread only.
package final class ServerBudget: Sendable {
  private struct State {
    var held: [ObjectIdentifier: Int] = [:]
    var overflow: [ObjectIdentifier: () -> Void] = [:]
    var total = 0
    /// The most that was held since memory was last given back.
    var peak = 0
  }

  /// The decrease of held memory that is worth a walk through the allocator's arenas, which takes milliseconds.
  private static let flood = 32 << 20

  private let limit: Int
  private let state: NIOLoopBoundBox<State>

  /// - Parameters:
  ///   - loop: the thread of all connections.
  ///   - limit: the most bytes that may be held.
  package init(on loop: any EventLoop, limit: Int) {
    self.limit = limit
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  package var total: Int { state.value.total }

  /// - Parameter overflow: ends the connection.
  package func join(_ connection: AnyObject, overflow: @escaping () -> Void) {
    state.value.held[ObjectIdentifier(connection)] = 0
    state.value.overflow[ObjectIdentifier(connection)] = overflow
  }

  package func leave(_ connection: AnyObject) {
    let id = ObjectIdentifier(connection)
    state.value.overflow[id] = nil
    if let rest = state.value.held.removeValue(forKey: id) { add(-rest) }
  }

  /// - Parameter bytes: the growth of the held memory, negative if some was released.
  package func change(_ connection: AnyObject, by bytes: Int) {
    let id = ObjectIdentifier(connection)
    guard let held = state.value.held[id] else { return }
    state.value.held[id] = held + bytes
    add(bytes)
    if bytes > 0, state.value.total > limit { endLargest() }
  }

  private func add(_ bytes: Int) {
    state.value.total += bytes
    state.value.peak = max(state.value.peak, state.value.total)
    if state.value.peak >= Self.flood, state.value.total < state.value.peak / 16 {
      state.value.peak = state.value.total
      // The allocator keeps freed memory in pieces; after a flood that is most of the process.
      state.eventLoop.assumeIsolated().execute { malloc_trim(0) }
    }
  }

  private func endLargest() {
    guard let (id, _) = state.value.held.max(by: { $0.value < $1.value }),
      let overflow = state.value.overflow.removeValue(forKey: id)
    else { return }
    overflow()
  }
}
