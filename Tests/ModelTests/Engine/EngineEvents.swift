// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSync
import Synchronization

/// What one engine told those who called it, in the order in which they heard of it.
final class EngineEvents: Sendable {
  enum Event: Sendable {
    /// The n-th write has its answer.
    case answered(Int, Result<CommitResponse, RPCStatus>)
    case snapshot(ListenerID, ViewSnapshot)
    case failed(ListenerID, RPCStatus)
  }

  private let events = Mutex<[Event]>([])

  func note(_ event: Event) { events.withLock { $0.append(event) } }

  func takeAll() -> [Event] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}

/// The newest snapshot of one listener, to be waited for.
final class LatestSnapshot: Sendable {
  private struct State {
    var latest: ViewSnapshot?
    var isOver = false
    var waiter: (isWanted: @Sendable (ViewSnapshot) -> Bool, continuation: CheckedContinuation<Bool, Never>)?

    /// Whether what is waited for is there, or never will be.
    func outcome(_ isWanted: (ViewSnapshot) -> Bool) -> Bool? {
      if let latest, isWanted(latest) { return true }
      return isOver ? false : nil
    }

    mutating func takeWaiter() -> (CheckedContinuation<Bool, Never>, Bool)? {
      guard let (isWanted, continuation) = waiter, let outcome = outcome(isWanted) else { return nil }
      waiter = nil
      return (continuation, outcome)
    }
  }

  private let state = Mutex(State())

  func put(_ snapshot: ViewSnapshot) { change { $0.latest = snapshot } }
  /// No other comes.
  func finish() { change { $0.isOver = true } }

  private func change(_ body: (inout State) -> Void) {
    let ready = state.withLock { state in
      body(&state)
      return state.takeWaiter()
    }
    if let (continuation, outcome) = ready { continuation.resume(returning: outcome) }
  }

  /// One waits at a time.
  /// - Returns: false if the listener ends before there is such a snapshot.
  func wait(for isWanted: @escaping @Sendable (ViewSnapshot) -> Bool) async -> Bool {
    await withCheckedContinuation { continuation in
      let outcome = state.withLock { state in
        if let outcome = state.outcome(isWanted) { return outcome as Bool? }
        state.waiter = (isWanted, continuation)
        return nil
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }
}
