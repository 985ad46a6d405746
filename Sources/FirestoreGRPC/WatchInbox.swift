// SPDX-License-Identifier: Apache-2.0
import FirestoreProtocol
import Synchronization

/// What a watch stream has said and the client has not taken yet. One task fills it, another one delivers: what arrives
/// while the client works on one delivery becomes the next, so that a large result costs a call per some dozen documents
/// and not one per document.
///
/// - Invariant: one task puts, one task delivers.
final class WatchInbox: Sendable {
  /// Documents may be 1 MiB each; beyond this the stream is not read, and HTTP/2 pushes back.
  private static let capacity = 64

  private struct State {
    var changes: [WatchChange] = []
    var isFinished = false
    /// Waits for something to take.
    var reader: CheckedContinuation<Void, Never>?
    /// Waits for room.
    var writer: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// Returns when there is room for more.
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

  /// Nothing more comes: `deliverAll` returns after what is there.
  func finish() { wake { $0.isFinished = true } }

  /// Calls `deliver` with all that is there, again and again, until the end. A task that is cancelled delivers no more,
  /// and lets what is put vanish.
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
