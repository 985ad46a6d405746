// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The state of one of the client's streams.
///
///     closed ──start──► starting ──opened──► open
///       ▲                  │                  │
///       └── stop ──────────┴── failed ────────┘      each arrow to `closed` begins a new epoch (S8)
package struct ClientStream: Sendable {
  package enum Phase: Hashable, Sendable {
    case closed
    /// The client waits for the end of the stream's backoff, and then for the transport.
    case starting
    case open
  }

  /// The time after which an idle stream is closed (SDK stream: IDLE_TIMEOUT_MS).
  static let idleTimeout = Duration.seconds(60)

  package private(set) var phase = Phase.closed
  package private(set) var epoch = StreamEpoch()
  package private(set) var lastError: RPCStatus?
  private var backoff = Backoff()
  /// Whether the last attempt failed, so that there is a delay before the next start.
  private var isAfterFailure = false

  package init() {}

  package var isStarted: Bool { phase != .closed }
  package var isOpen: Bool { phase == .open }

  /// - Returns: the delay before the stream is opened.
  /// - Precondition: the stream is closed.
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

  /// Records that a message arrived, so the backend is available.
  package mutating func succeeded() {
    backoff.reset()
    lastError = nil
    isAfterFailure = false
  }

  /// Records that the backend or the transport ended the stream.
  package mutating func failed(_ status: RPCStatus) {
    phase = .closed
    epoch.advance()
    lastError = status
    isAfterFailure = true
    if status.code == .resourceExhausted { backoff.resetToMaximum() }
  }

  /// Records that the client closed the stream. The next start has no delay.
  /// - Parameter keepingError: whether to keep the record of the last failure.
  package mutating func stop(keepingError: Bool = false) {
    phase = .closed
    if !keepingError { lastError = nil }
    epoch.advance()
    isAfterFailure = false
    backoff.reset()
  }

  /// Abandons an attempt to open the stream, so that the next attempt has no delay.
  /// - Returns: the epoch of the abandoned attempt; `nil` if there was none.
  mutating func skipBackoff() -> StreamEpoch? {
    guard phase == .starting else { return nil }
    defer { stop(keepingError: true) }
    return epoch
  }

  /// Removes the delay before the next start, because the failure concerned a single write and not the stream.
  package mutating func forgiveFailure() {
    lastError = nil
    isAfterFailure = false
    backoff.reset()
  }
}

package enum StreamKind: Hashable, Sendable, CaseIterable { case watch, write }

/// The number of an attempt to keep one stream open. A message from an epoch other than the current one comes from an
/// abandoned stream and is dropped (S8).
package struct StreamEpoch: Hashable, Comparable, Sendable, CustomStringConvertible {
  package private(set) var rawValue: Int

  package init(_ rawValue: Int = 0) { self.rawValue = rawValue }

  package mutating func advance() { rawValue += 1 }
  package static func < (left: StreamEpoch, right: StreamEpoch) -> Bool { left.rawValue < right.rawValue }
  package var description: String { "epoch \(rawValue)" }
}

/// The delay before the next attempt. The first attempt is immediate. The following delay is 1 s, and each later one is
/// 1.5 times longer, up to 60 s, with ±50 % jitter (SDK exponential_backoff: BACKOFF_INITIAL_DELAY, BACKOFF_FACTOR,
/// BACKOFF_MAX_DELAY).
package struct Backoff: Hashable, Sendable {
  package static let initial = Duration.seconds(1)
  package static let maximum = Duration.seconds(60)
  private static let factor = 1.5

  /// The next delay, without jitter; zero for the first attempt.
  package private(set) var base = Duration.zero
  private let longest: Duration

  /// - Parameter longest: the maximum delay without jitter. The default is the SDK's maximum.
  package init(longest: Duration = Self.maximum) { self.longest = longest }

  /// Returns the delay for this attempt, and increases the delay for the next attempt.
  package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    let delay = base == .zero ? .zero : base * Double.random(in: 0.5...1.5, using: &generator)
    base = min(max(base * Self.factor, Self.initial), longest)
    return delay
  }

  /// Resets the delay after a success, so that the next attempt is immediate.
  package mutating func reset() { base = .zero }

  /// Sets the next delay to the maximum, after `resource-exhausted`.
  package mutating func resetToMaximum() { base = longest }
}
