// SPDX-License-Identifier: Apache-2.0

/// Decides when to send the next frame. A terminal connection that is too slow for all frames gets fewer frames, and
/// outdated frames are skipped.
///
/// The operating system's buffers accept tens of kilobytes, so writing succeeds even if the terminal has not drawn the
/// data yet. Therefore the first frames, and frames in quick succession, end with a query (`CSI 5 n`). The terminal's
/// reply confirms that it has drawn everything before the query. Until then, only the response to a key is sent. If the
/// terminal does not reply, other frames are sent only at a rate that is low enough for any connection.
package struct FrameGate: Sendable {
  /// The reason why the next frame is sent.
  package enum Cause: Int, Comparable, Sendable {
    /// A client event, or elapsed time. A later frame would also show the change.
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
  /// The count of first round trips that are measured even if frames do not follow each other quickly.
  private static let firstTrips = 3
  /// Frames at least this far apart are slow enough for any connection.
  private static let closeness = Duration.milliseconds(500)
  /// The count of consecutive queries without a reply after which no more queries are sent.
  private static let questionLimit = 2
  /// The bytes per second for a terminal that does not reply. This is below the rate of the slowest connection in use.
  private static let blindRate = 3_000.0
  /// The minimum round trip at which the user is notified that the connection is slow.
  private static let slowTrip = Duration.milliseconds(150)

  private var lastFrame: Moment?
  private var asked: Moment?
  /// The count of consecutive queries without a reply.
  private var unanswered = 0
  private var hasAnswered = false
  /// The newest round trips, oldest first.
  private var trips: [Duration] = []
  /// The time at which a connection with `blindRate` would have transferred all bytes sent so far.
  private var clear: Moment?

  package init() {}

  /// The minimum time from a frame to the next frame, if no key caused the next frame.
  package var newsInterval = Self.interval

  /// The median time from sending the end of a frame to the terminal's reply; `nil` before the first reply.
  package var roundTrip: Duration? { trips.isEmpty ? nil : trips.sorted()[trips.count / 2] }

  /// Whether frames are skipped because the connection is slow.
  package var isSlow: Bool { isAlwaysSlow || roundTrip.map { $0 > Self.slowTrip } ?? false }

  /// Whether the connection counts as slow even if its round trip is short.
  package var isAlwaysSlow = false

  /// The time to wait at the end of the program for a reply that the shell would otherwise receive; `nil` if no reply
  /// is pending.
  var owedAnswer: Duration? {
    guard asked != nil else { return nil }
    return roundTrip.map { min(Self.patience, $0 * 2 + .milliseconds(100)) } ?? .milliseconds(200)
  }

  /// Whether the response to a key is sent without pending client events, because they would delay the response.
  package var holdsNews: Bool { isSlow || isBlind }

  private var isBlind: Bool { !hasAnswered && unanswered > 0 }

  /// The earliest time at which a frame can be sent. Only `drawn` can make this time earlier.
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

  /// Resets the state after another program has used the terminal.
  package mutating func restart() {
    (lastFrame, asked, clear) = (nil, nil, nil)
    unanswered = 0
  }
}
