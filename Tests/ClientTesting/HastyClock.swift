// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A clock on which short delays (of a backoff) pass at once and long ones (idle and clean-up timers) never.
package final class HastyClock: Clock {
  package struct Instant: InstantProtocol {
    package var offset: Duration
    package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    package func duration(to other: Instant) -> Duration { other.offset - offset }
    package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private static let patience = Duration.seconds(10)
  private let short = Mutex<[Duration]>([])

  package init() {}

  /// The delays that passed at once.
  package var delays: [Duration] { short.withLock { $0 } }

  package var now: Instant { Instant(offset: .zero) }
  package var minimumResolution: Duration { .zero }

  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    if deadline.offset < Self.patience { return short.withLock { $0.append(deadline.offset) } }
    // Ends when the task is cancelled.
    let (never, continuation) = AsyncStream<Never>.makeStream()
    for await _ in never {}
    continuation.finish()
    throw CancellationError()
  }
}
