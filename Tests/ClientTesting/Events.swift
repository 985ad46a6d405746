// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Callbacks of a listener or completion, awaited one by one by one test.
package final class Events<Element: Sendable>: Sendable {
  private struct State {
    var events: [Element] = []
    var isFinished = false
    var reader: CheckedContinuation<Element?, Never>?
  }

  private let state = Mutex(State())

  package init() {}

  /// What a callback hands its argument to.
  package func send(_ event: Element) {
    state.withLock { state in
      if state.reader == nil { state.events.append(event) }
      return state.reader.take()
    }?.resume(returning: event)
  }

  /// The next event; waits for it.
  package func next() async -> Element? {
    await withCheckedContinuation { continuation in
      let ready: Element?? = state.withLock { state in
        if !state.events.isEmpty { return .some(state.events.removeFirst()) }
        if state.isFinished { return .some(nil) }
        state.reader = continuation
        return .none
      }
      if let event = ready { continuation.resume(returning: event) }
    }
  }

  /// The first event from here on that is as asked; those before it are dropped.
  package func first(where isWanted: (Element) -> Bool) async -> Element? {
    while let event = await next() { if isWanted(event) { return event } }
    return nil
  }

  /// No more events come; `next` gives what is left and then `nil`.
  package func finish() { state.withLock { $0.isFinished = true } }
}
