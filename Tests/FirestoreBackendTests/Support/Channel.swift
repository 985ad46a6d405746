// SPDX-License-Identifier: Apache-2.0
import FirestoreProtocol
import FirestoreTesting

/// Requests that a test sends one by one, and events that it waits for.
struct Channel<Element: Sendable>: Sendable {
  private let stream: AsyncStream<Element>
  private let continuation: AsyncStream<Element>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream(of: Element.self) }

  func send(_ element: Element) { continuation.yield(element) }
  func finish() { continuation.finish() }

  func next() async -> Element? {
    var iterator = stream.makeAsyncIterator()
    return await iterator.next()
  }

  var requests: StreamRequests<Element> { StreamRequests { await next() } }
}

/// A clock that only moves when a sleeper is let go, so that tests see what was waited for.
final class SleepLog: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  let sleeps = Channel<Duration>()
  var now: Instant { Instant(offset: .zero) }
  var minimumResolution: Duration { .zero }
  func sleep(until deadline: Instant, tolerance: Duration?) async throws { sleeps.send(deadline.offset) }
}
