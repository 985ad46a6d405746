// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The life of one stream as the client sees it.
///
///     closed ──start──► starting ──opened──► open
///       ▲                  │                  │
///       └── stop ──────────┴── failed ────────┘      each arrow to `closed` begins a new epoch (S8)
package struct ClientStream: Sendable {
  package enum Phase: Hashable, Sendable {
    case closed
    /// The stream waits for its backoff, then for the transport.
    case starting
    case open
  }

  /// The time after which an idle stream is closed (SDK stream: IDLE_TIMEOUT_MS).
  static let idleTimeout = Duration.seconds(60)

  package private(set) var phase = Phase.closed
  package private(set) var epoch = StreamEpoch()
  package private(set) var lastError: RPCStatus?
  private var backoff = Backoff()
  /// Whether the next start follows a failure and has to wait.
  private var isAfterFailure = false

  package init() {}

  package var isStarted: Bool { phase != .closed }
  package var isOpen: Bool { phase == .open }

  /// - Returns: the time to wait before opening.
  /// - Precondition: closed.
  package mutating func start(using generator: inout some RandomNumberGenerator) -> Duration {
    precondition(phase == .closed, "a stream was started twice (\(epoch))")
    phase = .starting
    epoch.advance()
    return isAfterFailure ? backoff.next(using: &generator) : .zero
  }

  /// - Returns: whether the epoch is the current one.
  package mutating func opened(_ epoch: StreamEpoch) -> Bool {
    guard epoch == self.epoch, phase == .starting else { return false }
    phase = .open
    return true
  }

  /// Notes that a message arrived, so that the backend is well.
  package mutating func succeeded() {
    backoff.reset()
    lastError = nil
    isAfterFailure = false
  }

  /// Notes that the stream ended by itself.
  package mutating func failed(_ status: RPCStatus) {
    phase = .closed
    epoch.advance()
    lastError = status
    isAfterFailure = true
    if status.code == .resourceExhausted { backoff.resetToMaximum() }
  }

  /// Notes that the client gave the stream up; the next start is immediate.
  /// - Parameter keepingError: whether the last failure is still shown.
  package mutating func stop(keepingError: Bool = false) {
    phase = .closed
    if !keepingError { lastError = nil }
    epoch.advance()
    isAfterFailure = false
    backoff.reset()
  }

  /// Gives up an attempt to open the stream, so that the next is immediate.
  /// - Returns: the attempt's epoch; `nil` if there is none under way.
  mutating func skipBackoff() -> StreamEpoch? {
    guard phase == .starting else { return nil }
    defer { stop(keepingError: true) }
    return epoch
  }

  /// Makes the next start immediate: the failure was about one write, not about the stream.
  package mutating func forgiveFailure() {
    lastError = nil
    isAfterFailure = false
    backoff.reset()
  }
}

package enum StreamKind: Hashable, Sendable, CaseIterable { case watch, write }

/// Numbers the attempts to keep one stream open. A message that carries another epoch than the current one comes
/// from a stream that was given up and is dropped (S8).
package struct StreamEpoch: Hashable, Comparable, Sendable, CustomStringConvertible {
  package private(set) var rawValue: Int

  package init(_ rawValue: Int = 0) { self.rawValue = rawValue }

  package mutating func advance() { rawValue += 1 }
  package static func < (left: StreamEpoch, right: StreamEpoch) -> Bool { left.rawValue < right.rawValue }
  package var description: String { "epoch \(rawValue)" }
}

/// The wait before the next attempt: none at first, then 1 s growing by 1.5 up to 60 s, each ±50 %
/// (SDK exponential_backoff: BACKOFF_INITIAL_DELAY, BACKOFF_FACTOR, BACKOFF_MAX_DELAY).
package struct Backoff: Hashable, Sendable {
  package static let initial = Duration.seconds(1)
  package static let maximum = Duration.seconds(60)
  private static let factor = 1.5

  /// The next delay before jitter; zero for the first attempt.
  package private(set) var base = Duration.zero
  private let longest: Duration

  /// - Parameter longest: the longest delay before jitter, if that is not the SDK's.
  package init(longest: Duration = Self.maximum) { self.longest = longest }

  /// The delay of the attempt that is due now; the one after it waits longer.
  package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    let delay = base == .zero ? .zero : base * Double.random(in: 0.5...1.5, using: &generator)
    base = min(max(base * Self.factor, Self.initial), longest)
    return delay
  }

  /// Makes the next attempt immediate again, after a success.
  package mutating func reset() { base = .zero }

  /// Makes the next wait the longest, after `resource-exhausted`.
  package mutating func resetToMaximum() { base = longest }
}
