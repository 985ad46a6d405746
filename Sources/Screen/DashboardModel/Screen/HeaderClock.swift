// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The header's two times, so that an idle screen shows one that does not go wrong.
package struct HeaderClock: Sendable {
  /// The moment at which something last happened or aged: shown while anything counts seconds.
  package private(set) var time: Timestamp
  /// The moment at which the client last had news: shown while nothing happens.
  package private(set) var lastNews: Timestamp
  /// Whether the time counts as running, although nothing has happened up to it.
  package private(set) var runsOn = false

  package init(_ now: Timestamp) { (time, lastNews) = (now, now) }

  package mutating func advance(to now: Timestamp, isNews: Bool = false) {
    time = now
    if isNews { lastNews = now }
  }

  /// Shows an earlier time, of a clock that runs or stands still.
  package mutating func hold(at time: Timestamp, isRunning: Bool) { (self.time, runsOn) = (time, isRunning) }

  /// Puts the moment of the last news elsewhere.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) { lastNews = moved(lastNews) }
}
