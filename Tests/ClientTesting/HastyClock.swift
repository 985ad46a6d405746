// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A clock on which a backoff passes a thousand times as fast, and idle and clean-up timers never end, nor those that give
/// up a backend that is slow: a machine that is busy is no outage.
///
/// Timers last whole seconds, ten or more of them. The delays of a backoff are random, so that the long ones have a
/// fraction: a server that stays away for many attempts is tried again all the same.
package final class HastyClock: Clock {
  package struct Instant: InstantProtocol {
    package var offset: Duration
    package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    package func duration(to other: Instant) -> Duration { other.offset - offset }
    package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private static let patience = Duration.seconds(10)
  private let speed: Int
  private let short = Mutex<[Duration]>([])

  package init(speed: Int = 1000) { self.speed = speed }

  /// The delays that passed.
  package var delays: [Duration] { short.withLock { $0 } }

  package var now: Instant { Instant(offset: .zero) }
  package var minimumResolution: Duration { .zero }

  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    if deadline.offset < Self.patience || deadline.offset.components.attoseconds != 0 {
      short.withLock { $0.append(deadline.offset) }
      return try await ContinuousClock().sleep(for: deadline.offset / speed)
    }
    // Ends when the task is cancelled.
    let (never, continuation) = AsyncStream<Never>.makeStream()
    for await _ in never {}
    continuation.finish()
    throw CancellationError()
  }
}
