// SPDX-License-Identifier: Apache-2.0
import FirestoreProtocol
import Synchronization

/// The changes of a watch stream that the client has not taken yet. One task fills the inbox, another one delivers:
/// changes that arrive while the client works on one delivery become the next, so that a large result costs a call per
/// some dozen documents and not one per document.
///
/// - Invariant: one task puts, one task delivers.
final class WatchInbox: Sendable {
  /// The number of changes beyond which the stream is not read, and HTTP/2 pushes back; documents may be 1 MiB each.
  private static let capacity = 64

  private struct State {
    var changes: [WatchChange] = []
    var isFinished = false
    /// The task that waits for changes.
    var reader: CheckedContinuation<Void, Never>?
    /// The task that waits for room.
    var writer: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// Adds a change; returns when there is room for more.
  func put(_ change: WatchChange) async {
    let (reader, isFull) = state.withLock { state in
      state.changes.append(change)
      return (state.reader.take(), state.changes.count >= Self.capacity)
    }
    reader?.resume()
    guard isFull else { return }
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.isFinished || state.changes.count < Self.capacity { return true }
        state.writer = continuation
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Ends the inbox: `deliverAll` returns after the remaining changes.
  func finish() { wake { $0.isFinished = true } }

  /// Calls `deliver` with all waiting changes, again and again, until the end. A cancelled task delivers no more, and
  /// changes that are put then are dropped.
  func deliverAll(to deliver: ([WatchChange]) async -> Void) async {
    while true {
      let (changes, isFinished, writer) = state.withLock { state in
        defer { state.changes = [] }
        return (state.changes, state.isFinished, state.writer.take())
      }
      writer?.resume()
      if Task.isCancelled { return finish() }
      if !changes.isEmpty { await deliver(changes) } else if isFinished { return } else { await waitForChanges() }
    }
  }

  private func waitForChanges() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isFinished || !state.changes.isEmpty { return true }
          state.reader = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      finish()
    }
  }

  private func wake(_ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      return [state.reader.take(), state.writer.take()]
    }
    for case let continuation? in waiting { continuation.resume() }
  }
}
