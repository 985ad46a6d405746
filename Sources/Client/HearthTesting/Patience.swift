// SPDX-License-Identifier: Apache-2.0

/// Functions that wait with a timeout. Any clock can measure the timeout.
package enum Patience {
  /// The minimum interval between two checks of a condition. Longer waits use longer intervals, so that there are at
  /// most ten thousand checks.
  private static let pace = Duration.milliseconds(10)

  /// Waits until a condition is true.
  /// - Returns: whether the condition was true before the timeout.
  package static func wait(
    _ limit: Duration, by clock: any Clock<Duration>, until holds: () async throws -> Bool
  ) async throws -> Bool {
    let pace = max(pace, limit / 10_000)
    var looks = max(1, Int(limit / pace))
    while try await !holds() {
      looks -= 1
      if looks < 0 { return false }
      try await clock.sleep(for: pace)
    }
    return true
  }

  /// The result of the body, if the body returns before the timeout; otherwise `nil`.
  package static func result<Value: Sendable>(
    within limit: Duration, by clock: any Clock<Duration>, of body: @escaping @Sendable () async throws -> Value?
  ) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        // The sleep is cancelled when the result arrives.
        try? await clock.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}
