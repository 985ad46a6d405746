// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
import Synchronization

/// A network between a client and its backend that can be broken by hand or by chance. Shared by the controls that
/// break it and the datastores behind it; seeded, so that a run can be repeated.
package final class FaultInjector: Sendable {
  private struct State {
    var settings = FaultSettings()
    var writeFaults: [WriteFault] = []
    var randomness: UInt64
    var calls: [Int: AsyncStream<RPCStatus>.Continuation] = [:]
    var lastCall = 0
  }

  private let state: Mutex<State>

  package init(seed: UInt64 = 0) { state = Mutex(State(randomness: seed)) }

  package var settings: FaultSettings { state.withLock { $0.settings } }

  /// Changes the settings; going offline, or ending a half-open time, breaks everything that is open.
  package func update(_ change: (inout FaultSettings) -> Void) {
    let broken = state.withLock { state -> [AsyncStream<RPCStatus>.Continuation] in
      let before = state.settings
      change(&state.settings)
      let breaks = state.settings.isOffline && !before.isOffline || before.isHalfOpen && !state.settings.isHalfOpen
      guard breaks else { return [] }
      // Broken calls let no message pass from here on, not even one already on its way.
      defer { state.calls = [:] }
      return Array(state.calls.values)
    }
    for call in broken { call.yield(Self.broken) }
  }

  /// Replaces the settings; calm ones also withdraw the faults that wait for a write.
  package func apply(_ settings: FaultSettings) {
    if settings.isCalm { withdrawWriteFaults() }
    update { $0 = settings }
  }

  /// Makes a fault happen to the next write that has no other fault waiting for it.
  package func inject(_ fault: WriteFault) { state.withLock { $0.writeFaults.append(fault) } }

  /// Withdraws the injected faults that have not happened yet.
  package func withdrawWriteFaults() { state.withLock { $0.writeFaults = [] } }

  static let broken = RPCStatus(.unavailable, "The connection to the backend broke.")
  static let offline = RPCStatus(.unavailable, "The backend cannot be reached: the network is off.")

  /// Registers a stream or call that can be broken.
  /// - Returns: the number of the call, and a stream that gives the status with which it is broken, if it is.
  func open() throws(RPCStatus) -> (call: Int, breaks: AsyncStream<RPCStatus>) {
    let (stream, continuation) = AsyncStream.makeStream(of: RPCStatus.self, bufferingPolicy: .bufferingOldest(1))
    let call = state.withLock { state -> Int? in
      if state.settings.isOffline { return nil }
      state.lastCall += 1
      state.calls[state.lastCall] = continuation
      return state.lastCall
    }
    guard let call else { throw Self.offline }
    return (call, stream)
  }

  func close(_ call: Int) { state.withLock { $0.calls.removeValue(forKey: call) }?.finish() }

  /// Whether a registered call has been neither broken from outside nor closed.
  func isOpen(_ call: Int) -> Bool { state.withLock { $0.calls[call] != nil } }

  func fail(_ call: Int, with status: RPCStatus) { _ = state.withLock { $0.calls[call] }?.yield(status) }

  /// The fault of the next write: the first injected one, else by chance.
  func takeWriteFault() -> WriteFault? {
    state.withLock { state in
      if !state.writeFaults.isEmpty { return state.writeFaults.removeFirst() }
      guard state.settings.lostAcknowledgements > 0 else { return nil }
      let isLost = Self.draw(&state.randomness) * 100 < Double(state.settings.lostAcknowledgements)
      return isLost ? .dropAcknowledgement : nil
    }
  }

  func delay() -> Duration {
    state.withLock { state in
      let jitter = state.settings.jitter == .zero ? .zero : state.settings.jitter * Self.draw(&state.randomness)
      return state.settings.latency + jitter
    }
  }

  /// The next of a sequence of numbers in 0..<1 (splitmix64).
  private static func draw(_ state: inout UInt64) -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53)
  }
}
