// SPDX-License-Identifier: Apache-2.0

/// Decides when the next frame may be sent: a line too slow for all frames gets fewer of them, and never outdated ones
/// first.
///
/// The system hides how far behind a terminal is: tens of kilobytes wait in its buffers while it takes more. The first
/// frames, and frames that follow each other closely, therefore end with a question (`CSI 5 n`), whose answer says that all before it was
/// drawn; until then only the answer to a key is sent. A terminal that does not answer gets frames that no key caused
/// only at a rate that any line carries.
package struct FrameGate: Sendable {
  /// The reason for the next frame.
  package enum Cause: Int, Comparable, Sendable {
    /// News, or time that has passed; a later frame would show it too.
    case news
    /// The answer to a key or the mouse.
    case input

    package static func < (left: Cause, right: Cause) -> Bool { left.rawValue < right.rawValue }
  }

  package typealias Moment = ContinuousClock.Instant

  /// Thirty frames a second.
  static let interval = Duration.milliseconds(33)
  /// The time to wait for the terminal's answer.
  static let patience = Duration.seconds(1)
  /// The number of round trips that are measured whatever frames follow.
  private static let firstTrips = 3
  /// The interval between frames from which on they are no load for any line.
  private static let closeness = Duration.milliseconds(500)
  /// The number of unanswered questions in a row after which no more are asked.
  private static let questionLimit = 2
  /// The bytes per second sent to a terminal that does not answer: less than the slowest line in use carries.
  private static let blindRate = 3_000.0
  /// The round trip above which the user is told that the line is slow.
  private static let slowTrip = Duration.milliseconds(150)

  private var lastFrame: Moment?
  private var asked: Moment?
  /// Questions in a row without an answer.
  private var unanswered = 0
  private var hasAnswered = false
  /// The newest round trips, oldest first.
  private var trips: [Duration] = []
  /// The moment at which a line at `blindRate` would have carried everything that was sent.
  private var clear: Moment?

  package init() {}

  /// The least time between a frame and the next one that no key caused.
  package var newsInterval = Self.interval

  /// The median time from the end of a frame to the terminal's answer that it was drawn; `nil` before the first answer.
  package var roundTrip: Duration? { trips.isEmpty ? nil : trips.sorted()[trips.count / 2] }

  /// Whether frames are left out for the line's sake.
  package var isSlow: Bool { isAlwaysSlow || roundTrip.map { $0 > Self.slowTrip } ?? false }

  /// Whether the line counts as slow, whatever its round trip.
  package var isAlwaysSlow = false

  /// The time to wait at the end for an answer that would otherwise reach the shell; `nil` if none is owed.
  var owedAnswer: Duration? {
    guard asked != nil else { return nil }
    return roundTrip.map { min(Self.patience, $0 * 2 + .milliseconds(100)) } ?? .milliseconds(200)
  }

  /// Whether the answer to a key is to be sent without the news since the last frame, which would delay it.
  package var holdsNews: Bool { isSlow || isBlind }

  private var isBlind: Bool { !hasAnswered && unanswered > 0 }

  /// The first moment at which a frame may be sent; it can only become earlier by `drawn`.
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

  /// Notes a frame that is about to be sent.
  ///
  /// - Returns: whether the frame is to end with the question.
  package mutating func willSend(_ byteCount: Int, at now: Moment) -> Bool {
    let follows = lastFrame.map { now - $0 < Self.closeness } ?? false
    lastFrame = now
    clear = max(clear ?? now, now) + .seconds(Double(byteCount) / Self.blindRate)
    if let asked, now - asked >= Self.patience {
      self.asked = nil
      unanswered += 1
    }
    // The first answers tell how slow the line is, before a user waits for it.
    guard follows || trips.count < Self.firstTrips, asked == nil, unanswered < Self.questionLimit else { return false }
    asked = now
    return true
  }

  /// Notes the terminal's answer, also a late one.
  package mutating func drawn(at now: Moment) {
    hasAnswered = true
    unanswered = 0
    guard let asked else { return }
    self.asked = nil
    trips = (trips + [now - asked]).suffix(5)
  }

  /// Forgets the state that another program's use of the terminal has made void.
  package mutating func restart() {
    (lastFrame, asked, clear) = (nil, nil, nil)
    unanswered = 0
  }
}
