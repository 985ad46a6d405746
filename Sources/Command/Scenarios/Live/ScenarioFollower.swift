// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
import FirestoreSimulation

package import class Hearth.Client

/// The one who looks at a scenario while it is played, and says when it goes on. All calls come from the world's thread.
package struct ScenarioFollower: Sendable {
  /// Called before each step, which waits until it returns; in a simulated world the time stands still meanwhile.
  /// - Throws: to end the run.
  package var before: @Sendable (_ step: Int) async throws -> Void
  /// Called with each client when it is opened, before it does anything, also when it is opened again.
  package var opened: @Sendable (_ name: String?, Client, FaultInjector) -> Void
  /// Called after the last step, or with the error that ends the run; the clients live until it returns.
  package var ended: @Sendable ((any Error)?) async -> Void

  package init(
    before: @escaping @Sendable (_ step: Int) async throws -> Void,
    opened: @escaping @Sendable (_ name: String?, Client, FaultInjector) -> Void = { _, _, _ in },
    ended: @escaping @Sendable ((any Error)?) async -> Void = { _ in }
  ) {
    (self.before, self.opened, self.ended) = (before, opened, ended)
  }
}

extension ScenarioWorld {
  /// Lets the follower look, while the time of a simulated world stands still.
  func standingStill(_ body: (ScenarioFollower) async throws -> Void) async rethrows {
    guard let follower else { return }
    loop?.hold()
    defer { loop?.release() }
    try await body(follower)
  }
}
