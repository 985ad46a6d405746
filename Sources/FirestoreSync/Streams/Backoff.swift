// SPDX-License-Identifier: Apache-2.0

/// How long to wait before the next attempt: at once, then 1 s growing by 1.5 up to 60 s, each ±50 %
/// (SDK exponential_backoff: BACKOFF_INITIAL_DELAY, BACKOFF_FACTOR, BACKOFF_MAX_DELAY).
package struct Backoff: Hashable, Sendable {
  package static let initial = Duration.seconds(1)
  package static let maximum = Duration.seconds(60)
  private static let factor = 1.5

  /// The next delay before jitter; zero for the first attempt.
  package private(set) var base = Duration.zero
  private let longest: Duration

  /// - Parameter longest: the longest delay before jitter, where that is not the SDK's.
  package init(longest: Duration = Self.maximum) { self.longest = longest }

  /// The delay of the attempt that is due now; the one after it waits longer.
  package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    let delay = base == .zero ? .zero : base * Double.random(in: 0.5...1.5, using: &generator)
    base = min(max(base * Self.factor, Self.initial), longest)
    return delay
  }

  /// After a success: the next attempt is immediate again.
  package mutating func reset() { base = .zero }

  /// After `resource-exhausted`: do not come back soon.
  package mutating func resetToMaximum() { base = longest }
}
