// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The tasks behind closures: listeners and completion handlers. Each ends with what it waits for; terminating the
/// client ends them all.
final class CallbackTasks: Sendable {
  private struct State {
    var tasks: [Int: Task<Void, Never>] = [:]
    var next = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  /// Starts the task, unless `cancelAndWait()` was called before.
  /// - Returns: whether the task was started.
  @discardableResult
  func start(_ operation: @escaping @Sendable () async -> Void) -> Bool {
    state.withLock { state in
      if state.isFinished { return false }
      let number = state.next
      state.next += 1
      // The task cannot forget itself before it is remembered: both need the lock.
      state.tasks[number] = Task {
        await operation()
        forget(number)
      }
      return true
    }
  }

  private func forget(_ number: Int) {
    state.withLock { _ = $0.tasks.removeValue(forKey: number) }
  }

  func cancelAndWait() async {
    let tasks = state.withLock { state in
      state.isFinished = true
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}
