// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

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
