// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The header's two times. An idle screen shows the time of the last update, because that time remains correct.
package struct HeaderClock: Sendable {
  /// The time of the last event or expiry; shown while anything counts seconds.
  package private(set) var time: Timestamp
  /// The time of the client's last update; shown while idle.
  package private(set) var lastNews: Timestamp
  /// Whether to show `time` although nothing counts seconds.
  package private(set) var runsOn = false

  package init(_ now: Timestamp) { (time, lastNews) = (now, now) }

  package mutating func advance(to now: Timestamp, isNews: Bool = false) {
    time = now
    if isNews { lastNews = now }
  }

  /// Shows an earlier time of a running or stopped clock.
  package mutating func hold(at time: Timestamp, isRunning: Bool) { (self.time, runsOn) = (time, isRunning) }

  /// Shifts the time of the last update.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) { lastNews = moved(lastNews) }
}
