// SPDX-License-Identifier: Apache-2.0
import Dispatch
import SerialExecutors

/// The place where listeners and completions are called one after the other: the queue of the settings, or the thread of a
/// simulation.
struct CallbackQueue: Sendable {
  private let queue: DispatchQueue
  private let loop: (any WorkLoop)?

  init(_ queue: DispatchQueue, on loop: (any WorkLoop)?) { (self.queue, self.loop) = (queue, loop) }

  func async(_ work: @escaping @Sendable () -> Void) {
    if let loop { loop.perform(work) } else { queue.async(execute: work) }
  }

  /// Runs the closure and waits for it without blocking a thread.
  func perform(_ closure: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      async {
        closure()
        continuation.resume()
      }
    }
  }
}

extension Firestore {
  var callbackQueue: CallbackQueue { CallbackQueue(dispatchQueue, on: app.backend.surroundings.loop) }
}
