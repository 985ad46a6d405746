// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Synchronization

/// A mailbox with one or a few unread snapshots for a single reader. When it is full, the next snapshot is merged with
/// the newest unread snapshot. No change is lost, and the mailbox does not grow.
package final class SnapshotMailbox: Sendable {
  package enum Element: Sendable {
    case snapshot(ViewSnapshot)
    case failed(RPCStatus)
  }

  private struct State {
    var unread: [ViewSnapshot] = []
    var failure: RPCStatus?
    var isFinished = false
    var reader: CheckedContinuation<Element?, Never>?
    var settlers: [CheckedContinuation<Void, Never>] = []

    /// Whether the reader has read everything and is waiting for more, or whether the mailbox has ended.
    var isSettled: Bool { isFinished || (reader != nil && unread.isEmpty && failure == nil) }

    mutating func takeSettlers() -> [CheckedContinuation<Void, Never>] {
      guard isSettled else { return [] }
      defer { settlers = [] }
      return settlers
    }

    /// The next element for a reader. `.none` means that the reader must wait.
    mutating func take() -> Element?? {
      if !unread.isEmpty { return .some(.snapshot(unread.removeFirst())) }
      if let status = failure {
        failure = nil
        isFinished = true
        return .some(.failed(status))
      }
      return isFinished ? .some(nil) : .none
    }
  }

  private let state = Mutex(State())
  private let capacity: Int

  /// - Parameter capacity: the maximum number of unread snapshots; at least one. Beyond it, snapshots are merged.
  package init(capacity: Int = 1) { self.capacity = max(1, capacity) }

  /// Waits for the next element; `nil` after `finish()`, after cancellation, and after a failure has been read.
  ///
  /// This function runs on the caller's actor. Therefore snapshots arrive in order with other messages to this actor,
  /// such as the client's status.
  package nonisolated(nonsending) func next() async -> Element? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (ready, settled) = state.withLock { state -> (Element??, [CheckedContinuation<Void, Never>]) in
          if Task.isCancelled { state.isFinished = true }
          if let element = state.take() { return (.some(element), state.takeSettlers()) }
          precondition(state.reader == nil, "a snapshot mailbox has one reader")
          state.reader = continuation
          return (.none, state.takeSettlers())
        }
        for settler in settled { settler.resume() }
        if let element = ready { continuation.resume(returning: element) }
      }
    } onCancel: {
      finish()
    }
  }

  /// Ends the mailbox immediately and drops unread elements.
  package func finish() {
    let (reader, settled) = state.withLock { state in
      (state.isFinished, state.unread, state.failure) = (true, [], nil)
      return (state.reader.take(), state.takeSettlers())
    }
    for settler in settled { settler.resume() }
    reader?.resume(returning: nil)
  }

  /// Returns when the reader has read everything that is in the mailbox at the time of the call and is waiting for
  /// more. Also returns if the mailbox has ended.
  package func settle() async {
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if !state.isSettled { state.settlers.append(continuation) }
        return state.isSettled
      }
      if isSettled { continuation.resume() }
    }
  }

  /// Adds a snapshot. If the mailbox is full, merges it with the newest unread snapshot.
  package func put(_ snapshot: ViewSnapshot) {
    update { state in
      if state.unread.count < capacity {
        state.unread.append(snapshot)
      } else {
        state.unread.append(state.unread.removeLast().merged(with: snapshot))
      }
    }
  }

  /// Ends the mailbox with an error, which the reader receives after the unread snapshots.
  package func fail(_ status: RPCStatus) {
    update { $0.failure = status }
  }

  private func update(_ change: (inout State) -> Void) {
    let delivery = state.withLock { state -> (CheckedContinuation<Element?, Never>, Element?)? in
      guard !state.isFinished, state.failure == nil else { return nil }
      change(&state)
      guard let reader = state.reader, let element = state.take() else { return nil }
      state.reader = nil
      return (reader, element)
    }
    delivery?.0.resume(returning: delivery?.1)
  }
}
