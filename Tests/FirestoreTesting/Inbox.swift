// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Elements in order for one reader, which waits for the next.
package final class Inbox<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var isFinished = false
    var reader: CheckedContinuation<Element?, Never>?
  }

  private let state = Mutex(State())

  package init() {}

  package func put(_ element: Element) {
    let reader = state.withLock { state in
      if state.reader == nil, !state.isFinished { state.elements.append(element) }
      return state.reader.take()
    }
    reader?.resume(returning: element)
  }

  /// `nil` after `finish`, once everything was read, and when the reader is cancelled.
  package func next() async -> Element? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready = state.withLock { state -> Element?? in
          if !state.elements.isEmpty { return .some(state.elements.removeFirst()) }
          if state.isFinished { return .some(nil) }
          state.reader = continuation
          return .none
        }
        if let element = ready { continuation.resume(returning: element) }
      }
    } onCancel: {
      finish()
    }
  }

  package func finish() {
    let reader = state.withLock { state in
      state.isFinished = true
      return state.reader.take()
    }
    reader?.resume(returning: nil)
  }
}
