// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import Synchronization

/// One line of a scenario: something to do, or something that must happen.
struct ScenarioStep: Sendable {
  enum Action: Sendable {
    case listen(FirestoreQuery.Query)
    case goOffline, goOnline
    case write(Mutation)
    case expect(ScenarioEvent.Pattern, within: Duration)
    /// Nothing that a listener reports may happen.
    case expectNothing(within: Duration)
  }

  /// How long an event may take where the scenario does not say.
  static let patience = Duration.seconds(10)

  /// From 1.
  let line: Int
  /// As it was written, without white space around.
  let text: String
  let action: Action
}

/// What a scenario can wait for.
struct ScenarioEvent: Hashable, Sendable {
  enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A document of a listener's result.
    case added, modified, removed
    /// A listener's result is the server's.
    case synced
    /// A write's answer.
    case acknowledged, rejected
  }

  var kind: Kind
  /// `nil` for `synced`.
  var path: ResourcePath?
  /// Why the scenario fails if no step expects this.
  var failure: CommandFailure?

  struct Pattern: Hashable, Sendable {
    var kind: Kind
    /// `nil` for any.
    var path: ResourcePath?

    func matches(_ event: ScenarioEvent) -> Bool { kind == event.kind && (path == nil || path == event.path) }
  }
}

extension ScenarioEvent: CustomStringConvertible {
  var description: String { path.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue }
}

/// What has happened and was not looked at yet, in order. One reader. Holds the newest ten thousand events; a scenario
/// that makes more between two steps loses the oldest.
final class ScenarioEvents: Sendable {
  private static let limit = 10_000

  private struct State {
    var unread: [ScenarioEvent] = []
    /// Why there will be no more events.
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

  /// Ends the events with an error, read after those that are there.
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

  /// What was not looked at.
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
