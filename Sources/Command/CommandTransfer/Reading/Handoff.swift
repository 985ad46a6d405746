// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Passes elements from one task to another, one at a time: the giver waits until the element before was taken.
final class Handoff<Element: Sendable>: Sendable {
  private struct State {
    var element: Element?
    var isEnded = false
    var giver: CheckedContinuation<Void, Never>?
    var taker: CheckedContinuation<Void, Never>?

    /// Returns the waiting tasks, which then look again.
    mutating func wake() -> [CheckedContinuation<Void, Never>] {
      defer { (giver, taker) = (nil, nil) }
      return [giver, taker].compactMap { $0 }
    }
  }

  private let state = Mutex(State())

  /// - Returns: `false` if elements are no longer taken.
  func give(_ element: Element) async -> Bool {
    while true {
      let (isDone, isEnded, woken) = state.withLock { state in
        if state.isEnded { return (true, true, [CheckedContinuation<Void, Never>]()) }
        guard state.element == nil else { return (false, false, []) }
        state.element = element
        return (true, false, state.wake())
      }
      for waiting in woken { waiting.resume() }
      if isDone { return !isEnded }
      await wait { state, continuation in
        guard state.element != nil, !state.isEnded else { return false }
        state.giver = continuation
        return true
      }
    }
  }

  /// - Returns: `nil` after the end.
  func take() async -> Element? {
    while true {
      let (element, isEnded, woken) = state.withLock { state in
        guard let element = state.element else {
          return (Element?.none, state.isEnded, [CheckedContinuation<Void, Never>]())
        }
        state.element = nil
        return (element, state.isEnded, state.wake())
      }
      for waiting in woken { waiting.resume() }
      if let element { return element }
      if isEnded { return nil }
      await wait { state, continuation in
        guard state.element == nil, !state.isEnded else { return false }
        state.taker = continuation
        return true
      }
    }
  }

  /// Ends the handoff: no more is given. An element that was given can still be taken.
  func end() {
    let woken = state.withLock { state in
      state.isEnded = true
      return state.wake()
    }
    for waiting in woken { waiting.resume() }
  }

  /// Waits until something has changed.
  /// - Parameter enqueue: returns whether there is anything to wait for, and keeps the continuation if so.
  private func wait(_ enqueue: (inout State, CheckedContinuation<Void, Never>) -> Bool) async {
    await withCheckedContinuation { continuation in
      let waits = state.withLock { enqueue(&$0, continuation) }
      if !waits { continuation.resume() }
    }
  }
}
