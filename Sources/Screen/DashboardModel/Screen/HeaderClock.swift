// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The two times that the header can show. An idle screen shows the time of the client's last update, because that time
/// remains correct.
package struct HeaderClock: Sendable {
  /// The time of the last event or tick. Shown while the screen counts seconds.
  package private(set) var time: Timestamp
  /// The time of the client's last update. Shown while the screen is idle.
  package private(set) var lastNews: Timestamp
  /// Whether to show `time` even if the screen counts no seconds.
  package private(set) var runsOn = false

  package init(_ now: Timestamp) { (time, lastNews) = (now, now) }

  package mutating func advance(to now: Timestamp, isNews: Bool = false) {
    time = now
    if isNews { lastNews = now }
  }

  /// Sets the time that the header shows, and whether its clock is running.
  package mutating func hold(at time: Timestamp, isRunning: Bool) { (self.time, runsOn) = (time, isRunning) }

  /// Shifts the time of the last update.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) { lastNews = moved(lastNews) }
}
