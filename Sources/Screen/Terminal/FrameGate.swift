// SPDX-License-Identifier: Apache-2.0

/// Decides when to send the next frame. A line that is too slow for all frames gets fewer frames, but never an outdated
/// frame before the current one.
///
/// The system hides how far a terminal lags: its buffers accept tens of kilobytes. Therefore the first frames, and
/// frames in quick succession, end with a query (`CSI 5 n`). Its reply confirms that everything before it was drawn.
/// Until then, only the response to a key is sent. A terminal that does not reply gets other frames only at a rate that
/// any line can carry.
package struct FrameGate: Sendable {
  /// The reason for the next frame.
  package enum Cause: Int, Comparable, Sendable {
    /// A client event, or elapsed time. A later frame would show the change too.
    case news
    /// The response to a key or the mouse.
    case input

    package static func < (left: Cause, right: Cause) -> Bool { left.rawValue < right.rawValue }
  }

  package typealias Moment = ContinuousClock.Instant

  /// The minimum interval between frames: 30 frames per second.
  static let interval = Duration.milliseconds(33)
  /// The time to wait for the terminal's reply.
  static let patience = Duration.seconds(1)
  /// The count of round trips to measure, regardless of the following frames.
  private static let firstTrips = 3
  /// Any line can carry frames at this interval or more.
  private static let closeness = Duration.milliseconds(500)
  /// The count of consecutive unanswered queries after which no more queries are sent.
  private static let questionLimit = 2
  /// The bytes per second for a terminal that does not reply, below the rate of the slowest line in use.
  private static let blindRate = 3_000.0
  /// The minimum round trip for notifying the user of a slow line.
  private static let slowTrip = Duration.milliseconds(150)

  private var lastFrame: Moment?
  private var asked: Moment?
  /// Consecutive queries without a reply.
  private var unanswered = 0
  private var hasAnswered = false
  /// The newest round trips, oldest first.
  private var trips: [Duration] = []
  /// The time when a line at `blindRate` would have carried all sent bytes.
  private var clear: Moment?

  package init() {}

  /// The minimum time between a frame and the next frame that no key caused.
  package var newsInterval = Self.interval

  /// The median time from the end of a frame to the terminal's reply that it was drawn; `nil` before the first reply.
  package var roundTrip: Duration? { trips.isEmpty ? nil : trips.sorted()[trips.count / 2] }

  /// Whether frames are dropped because of the line.
  package var isSlow: Bool { isAlwaysSlow || roundTrip.map { $0 > Self.slowTrip } ?? false }

  /// Whether the line counts as slow regardless of its round trip.
  package var isAlwaysSlow = false

  /// The time to wait at the end for a reply that would otherwise reach the shell; `nil` if no reply is pending.
  var owedAnswer: Duration? {
    guard asked != nil else { return nil }
    return roundTrip.map { min(Self.patience, $0 * 2 + .milliseconds(100)) } ?? .milliseconds(200)
  }

  /// Whether to send the response to a key without pending news, which would delay it.
  package var holdsNews: Bool { isSlow || isBlind }

  private var isBlind: Bool { !hasAnswered && unanswered > 0 }

  /// The earliest time for sending a frame. Only `drawn` can make it earlier.
  package func due(for cause: Cause, at now: Moment) -> Moment {
    guard let lastFrame else { return now }
    var due = lastFrame + Self.interval
    if cause == .news {
      due = max(due, lastFrame + newsInterval)
      if let asked { due = max(due, asked + Self.patience) }
      if isBlind, let clear { due = max(due, clear) }
    }
    return max(due, now)
  }

  /// Records a frame that is about to be sent.
  ///
  /// - Returns: whether the frame must end with the query.
  package mutating func willSend(_ byteCount: Int, at now: Moment) -> Bool {
    let follows = lastFrame.map { now - $0 < Self.closeness } ?? false
    lastFrame = now
    clear = max(clear ?? now, now) + .seconds(Double(byteCount) / Self.blindRate)
    if let asked, now - asked >= Self.patience {
      self.asked = nil
      unanswered += 1
    }
    // The first replies measure the line before a user waits for it.
    guard follows || trips.count < Self.firstTrips, asked == nil, unanswered < Self.questionLimit else { return false }
    asked = now
    return true
  }

  /// Records the terminal's reply, even a late one.
  package mutating func drawn(at now: Moment) {
    hasAnswered = true
    unanswered = 0
    guard let asked else { return }
    self.asked = nil
    trips = (trips + [now - asked]).suffix(5)
  }

  /// Resets state that another program's use of the terminal has invalidated.
  package mutating func restart() {
    (lastFrame, asked, clear) = (nil, nil, nil)
    unanswered = 0
  }
}
