// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import Synchronization

/// One line of a scenario: an action, or an expectation.
package struct ScenarioStep: Sendable {
  enum Action: Sendable {
    case listen(FirestoreQuery.Query)
    case goOffline, goOnline
    case fault(FaultChange)
    case write(Mutation)
    case expect(ScenarioEvent.Pattern, within: Duration)
    /// No event of a listener may happen.
    case expectNothing(within: Duration)
  }

  /// The time to wait for an event if the scenario does not give one.
  static let patience = Duration.seconds(10)

  /// The number of the line, counted from 1.
  let line: Int
  /// The text of the line, without white space around it.
  package let text: String
  let action: Action
}

/// An event that a scenario can wait for.
struct ScenarioEvent: Hashable, Sendable {
  enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A document of a listener's result.
    case added, modified, removed
    /// The listener's result is in sync with the server.
    case synced
    /// The answer to a write.
    case acknowledged, rejected
  }

  var kind: Kind
  /// The path of the document; `nil` for `synced`.
  var path: ResourcePath?
  /// The reason why the scenario fails if no step expects this event.
  var failure: CommandFailure?

  struct Pattern: Hashable, Sendable {
    var kind: Kind
    /// The path of the document; `nil` for any.
    var path: ResourcePath?

    func matches(_ event: ScenarioEvent) -> Bool { kind == event.kind && (path == nil || path == event.path) }
  }
}

extension ScenarioEvent: CustomStringConvertible {
  var description: String { path.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue }
}

/// The events that were not yet matched, in order. One reader. It holds the newest ten thousand events; a scenario that
/// causes more between two steps loses the oldest.
final class ScenarioEvents: Sendable {
  private static let limit = 10_000

  private struct State {
    var unread: [ScenarioEvent] = []
    /// The reason why there will be no more events.
    var failure: CommandFailure?
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func put(_ event: ScenarioEvent) {
    wake { state in
      state.unread.append(event)
      if state.unread.count > Self.limit { state.unread.removeFirst() }
    }
  }

  /// Ends the events with an error, which is read behind the events that are there.
  func fail(_ failure: CommandFailure) {
    wake { $0.failure = $0.failure ?? failure }
  }

  private func wake(after change: (inout State) -> Void) {
    let waiter = state.withLock { state in
      change(&state)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  /// The events that were not read.
  var rest: [ScenarioEvent] { state.withLock { $0.unread } }

  /// - Returns: the next event; `nil` if the task is cancelled before there is one.
  func next() async throws(CommandFailure) -> ScenarioEvent? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if Task.isCancelled || !state.unread.isEmpty || state.failure != nil { return true }
          state.waiter = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      wake { _ in }
    }
    let (event, failure) = state.withLock { state in
      (state.unread.isEmpty ? nil : state.unread.removeFirst(), state.failure)
    }
    if event == nil, let failure { throw failure }
    return event
  }
}
