// SPDX-License-Identifier: Apache-2.0
import CAllocator
import NIOCore

/// What all connections together make the server hold in memory. When it is too much, the connection that has most of
/// it is ended: a flood then costs the client that sends it, not the others. Used on the connections' thread only.
final class ServerBudget: Sendable {
  private struct State {
    var held: [ObjectIdentifier: Int] = [:]
    var overflow: [ObjectIdentifier: () -> Void] = [:]
    var total = 0
    /// The most that was held since memory was last given back.
    var peak = 0
  }

  /// Worth a walk through the allocator's arenas, which takes milliseconds.
  private static let flood = 32 << 20

  private let limit: Int
  private let state: NIOLoopBoundBox<State>

  /// - Parameters:
  ///   - loop: the thread of all connections.
  ///   - limit: in bytes.
  init(on loop: any EventLoop, limit: Int) {
    self.limit = limit
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  var total: Int { state.value.total }

  /// - Parameter overflow: ends the connection.
  func join(_ connection: ConnectionBudget, overflow: @escaping () -> Void) {
    state.value.held[ObjectIdentifier(connection)] = 0
    state.value.overflow[ObjectIdentifier(connection)] = overflow
  }

  func leave(_ connection: ConnectionBudget) {
    let id = ObjectIdentifier(connection)
    state.value.overflow[id] = nil
    if let rest = state.value.held.removeValue(forKey: id) { add(-rest) }
  }

  /// - Parameter bytes: fewer than none when something was let go.
  func change(_ connection: ConnectionBudget, by bytes: Int) {
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
      // The allocator keeps what is freed in pieces; after a flood that is most of the process.
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
