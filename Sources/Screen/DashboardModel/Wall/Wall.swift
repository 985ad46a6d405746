// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The last minute of all listeners and of the own writes on one axis of seconds, whether or not it is on the screen.
package struct Wall: Sendable {
  /// The seconds that the wall shows.
  package static let span = 60
  /// The seconds over which a rate is the mean.
  package static let rateSpan = 10

  private var events: [ListenerTag: SecondSeries] = [:]
  /// The last moment at which anything was noted.
  private var latest: Timestamp?
  package private(set) var made = SecondSeries()
  package private(set) var acknowledged = SecondSeries()
  package private(set) var rejected = SecondSeries()
  /// The longest round trip of the writes that were acknowledged in each second, in milliseconds, and one more: what
  /// took less than one is not nothing.
  package private(set) var roundTrips = SecondSeries()
  /// The round trips of late in milliseconds, newest last.
  package private(set) var recentTrips: [Int] = []
  private static let mostTrips = 64
  /// The writes that were acknowledged and refused in this session.
  package private(set) var totals = (acknowledged: 0, rejected: 0)

  package init() {}

  package mutating func note(events count: Int, of tag: ListenerTag, at time: Timestamp) {
    guard count > 0 else { return }
    events[tag, default: SecondSeries()].add(count, at: time)
    latest = time
  }

  package mutating func note(made count: Int, at time: Timestamp) {
    guard count > 0 else { return }
    made.add(count, at: time)
    latest = time
  }

  /// - Parameter roundTrip: the time from sending to the answer, where it is known.
  package mutating func noteAcknowledged(after roundTrip: Duration?, at time: Timestamp) {
    acknowledged.add(1, at: time)
    latest = time
    totals.acknowledged += 1
    guard let roundTrip else { return }
    let milliseconds = min(Int(UInt32.max) - 1, Int(clamping: TimeText.wholeMilliseconds(roundTrip)))
    roundTrips.raise(to: milliseconds + 1, at: time)
    recentTrips = (recentTrips + [milliseconds]).suffix(Self.mostTrips)
  }

  package mutating func noteRejected(at time: Timestamp) {
    rejected.add(1, at: time)
    latest = time
    totals.rejected += 1
  }

  /// Gives the history of a listener to the one in its place.
  package mutating func reassign(_ old: ListenerTag, to tag: ListenerTag) {
    events[tag] = events.removeValue(forKey: old)
  }

  package mutating func forget(_ tag: ListenerTag) { events[tag] = nil }

  package func events(of tag: ListenerTag) -> SecondSeries { events[tag] ?? SecondSeries() }

  /// Whether the wall changes by itself as time passes: something of it is in the last minute.
  package func isMoving(at now: Timestamp) -> Bool {
    latest.map { now.wholeSeconds(since: $0) <= Int64(Self.span) } ?? false
  }

  /// Moves all times, after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    events = events.mapValues { series in
      var series = series
      series.move(moved)
      return series
    }
    latest = latest.map(moved)
    made.move(moved)
    acknowledged.move(moved)
    rejected.move(moved)
    roundTrips.move(moved)
  }
}
