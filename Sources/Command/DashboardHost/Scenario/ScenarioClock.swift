// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The time on the screen of a scenario: that of its world, and with the time that passes for those who look while the
/// world stands still. It never goes back.
struct ScenarioClock {
  private let clock = ContinuousClock()
  private var base: Timestamp
  private var since: ContinuousClock.Instant

  init(_ time: Timestamp) {
    base = time
    since = clock.now
  }

  var now: Timestamp { Timestamp(microseconds: base.microseconds &+ microseconds(clock.now - since)) }

  /// Goes on from the world's time, if that is ahead.
  mutating func reach(_ time: Timestamp) {
    base = max(now, time)
    since = clock.now
  }

  private func microseconds(_ duration: Duration) -> Int64 { Int64(duration / .microseconds(1)) }
}
