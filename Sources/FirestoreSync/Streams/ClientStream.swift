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
    /// Waiting for its backoff, then for the transport.
    case starting
    case open
  }

  package private(set) var phase = Phase.closed
  package private(set) var epoch = StreamEpoch()
  package private(set) var lastError: RPCStatus?
  private var backoff = Backoff()
  /// Whether the next start follows a failure and has to wait.
  private var isAfterFailure = false

  package init() {}

  package var isStarted: Bool { phase != .closed }
  package var isOpen: Bool { phase == .open }

  /// - Returns: how long to wait before opening.
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

  /// A message arrived, so the backend is well.
  package mutating func succeeded() {
    backoff.reset()
    lastError = nil
    isAfterFailure = false
  }

  /// The stream ended by itself.
  package mutating func failed(_ status: RPCStatus) {
    phase = .closed
    epoch.advance()
    lastError = status
    isAfterFailure = true
    if status.code == .resourceExhausted { backoff.resetToMaximum() }
  }

  /// The client gave the stream up; the next start is immediate.
  /// - Parameter keepingError: whether the last failure is still worth telling.
  package mutating func stop(keepingError: Bool = false) {
    phase = .closed
    if !keepingError { lastError = nil }
    epoch.advance()
    isAfterFailure = false
    backoff.reset()
  }

  /// The failure was about one write, not about the stream: the next start is immediate.
  package mutating func forgiveFailure() {
    lastError = nil
    isAfterFailure = false
    backoff.reset()
  }
}
