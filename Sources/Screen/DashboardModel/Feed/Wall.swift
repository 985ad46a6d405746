// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreModel

/// The events of all listeners and this client's writes in the last minute, by second. They are recorded even while the
/// wall, which shows them, is not on screen.
package struct Wall: Sendable {
  /// The period that the wall shows, in seconds.
  package static let span = 60
  /// The period over which the mean rate is computed, in seconds.
  package static let rateSpan = 10

  /// The time when counting began.
  package private(set) var start: Timestamp
  private var events: [ListenerTag: SecondSeries] = [:]
  /// The time of the last event.
  private var latest: Timestamp?
  package private(set) var made = SecondSeries()
  package private(set) var acknowledged = SecondSeries()
  package private(set) var rejected = SecondSeries()
  /// The longest round trip in milliseconds of the writes that were acknowledged in each second. 1 is added to each
  /// value, so that a round trip under 1 ms differs from none.
  package private(set) var roundTrips = SecondSeries()
  /// Recent round trips in milliseconds, newest last.
  package private(set) var recentTrips: [Int] = []
  private static let mostTrips = 64
  /// The counts of acknowledged and rejected writes in this session.
  package private(set) var totals = (acknowledged: 0, rejected: 0)

  package init(since start: Timestamp) { self.start = start }

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

  /// - Parameter roundTrip: the time from sending the write to the server's response, if known.
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

  /// Assigns the history of a listener to the listener that replaces it.
  package mutating func reassign(_ old: ListenerTag, to tag: ListenerTag) {
    events[tag] = events.removeValue(forKey: old)
  }

  package mutating func forget(_ tag: ListenerTag) { events[tag] = nil }

  package func events(of tag: ListenerTag) -> SecondSeries { events[tag] ?? SecondSeries() }

  /// Whether the wall changes while time passes. This is so if an event occurred in the last minute.
  package func isMoving(at now: Timestamp) -> Bool {
    latest.map { now.wholeSeconds(since: $0) <= Int64(Self.span) } ?? false
  }

  /// Shifts all times after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    events = events.mapValues { series in
      var series = series
      series.move(moved)
      return series
    }
    (start, latest) = (moved(start), latest.map(moved))
    made.move(moved)
    acknowledged.move(moved)
    rejected.move(moved)
    roundTrips.move(moved)
  }
}

/// The order of the listeners on the wall.
package enum WallOrder: String, CaseIterable, Sendable {
  /// Sorted by the order in which the listeners were started.
  case opened
  /// Sorted by the count of events in the last minute, highest first.
  case rate
  case name

  /// The time in seconds before the listeners are sorted by rate again. If rows moved with every event, they could not
  /// be read.
  package static let rateHold: Int64 = 10

  package var next: WallOrder {
    let all = Self.allCases
    return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
  }

  package var words: String {
    switch self {
    case .opened: "as opened"
    case .rate: "by rate"
    case .name: "by name"
    }
  }

  /// Sorts listeners.
  /// - Parameter now: the current second.
  package func sorted(_ listeners: [ListenerRecord], _ wall: Wall, at now: Int64) -> [ListenerRecord] {
    switch self {
    case .opened: return listeners
    case .name: return listeners.sorted { $0.name.compareUTF8($1.name) == .ascending }
    case .rate:
      let end = now / Self.rateHold * Self.rateHold
      let keyed = listeners.enumerated().map { index, listener in
        (sum: wall.events(of: listener.tag).sum(Wall.span, before: end), index: index, listener: listener)
      }
      return keyed.sorted { $0.sum != $1.sum ? $0.sum > $1.sum : $0.index < $1.index }.map(\.listener)
    }
  }
}

/// A value for each of the last seconds. Values from before the last `capacity` seconds are dropped.
package struct SecondSeries: Sendable {
  /// The length of the stored history in seconds: one minute plus the interval at which the wall sorts the listeners.
  package static let capacity = 80

  private var numbers: [UInt32] = []
  /// The newest second that has a number.
  private var newest: Int64?

  package init() {}

  /// Adds a number to the value of a second. Ignores seconds that are no longer stored.
  package mutating func add(_ number: Int, at time: Timestamp) {
    guard number > 0, let place = place(of: time.seconds) else { return }
    numbers[place] = UInt32(clamping: Int(numbers[place]) + min(number, Int(UInt32.max)))
  }

  /// Raises the value of a second to a number if the number is larger.
  package mutating func raise(to number: Int, at time: Timestamp) {
    guard number > 0, let place = place(of: time.seconds) else { return }
    numbers[place] = max(numbers[place], UInt32(clamping: number))
  }

  private mutating func place(of second: Int64) -> Int? {
    if numbers.isEmpty { numbers = Array(repeating: 0, count: Self.capacity) }
    let last = newest ?? second
    if second > last {
      let passed = Int(clamping: second.subtractingReportingOverflow(last).partialValue)
      for step in 0..<min(max(0, passed), Self.capacity) { numbers[index(second &- Int64(step))] = 0 }
    }
    newest = max(last, second)
    return last &- second < Int64(Self.capacity) ? index(second) : nil
  }

  private func index(_ second: Int64) -> Int {
    let index = Int(second % Int64(Self.capacity))
    return index < 0 ? index + Self.capacity : index
  }

  /// The number of a second.
  package subscript(second: Int64) -> Int {
    guard let newest, second <= newest, newest &- second < Int64(Self.capacity) else { return 0 }
    return Int(numbers[index(second)])
  }

  /// The values of the last `count` seconds before `end`, oldest first.
  package func last(_ count: Int, before end: Int64) -> [Int] {
    (0..<max(0, count)).map { self[end &- Int64(count - $0)] }
  }

  /// The sum of the values of the last `count` seconds before `end`.
  package func sum(_ count: Int, before end: Int64) -> Int { last(count, before: end).reduce(0, +) }

  /// Shifts all seconds after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    guard let newest else { return }
    let values = last(Self.capacity, before: newest &+ 1)
    let end = moved(Timestamp(seconds: newest)).seconds
    self = SecondSeries()
    for (step, value) in values.enumerated() {
      add(value, at: Timestamp(seconds: end &- Int64(values.count - 1 - step)))
    }
  }
}

/// A histogram of numbers. Each class is twice as wide as the previous class, so adding a number changes few classes.
package struct Histogram: Hashable, Sendable {
  /// A class with the numbers that are above the previous class and at most `limit`.
  package struct Class: Hashable, Sendable {
    package var limit: Int
    package var count: Int
  }

  private let sorted: [Int]

  package init(_ values: some Sequence<Int>) { sorted = values.map { max(0, $0) }.sorted() }

  package var count: Int { sorted.count }

  /// The smallest number such that about `share` percent of all numbers are not larger; 0 without numbers.
  package func percentile(_ share: Int) -> Int { sorted.isEmpty ? 0 : sorted[min(count - 1, count * share / 100)] }

  /// The classes from the first to the last class that has numbers.
  package var classes: [Class] {
    guard let first = sorted.first, let last = sorted.last else { return [] }
    var classes: [Class] = []
    var limit = 1
    while limit < first { limit *= 2 }
    while true {
      let below = classes.isEmpty ? -1 : limit / 2
      classes.append(Class(limit: limit, count: sorted.count { $0 > below && $0 <= limit }))
      guard limit < last, limit <= Int.max / 2 else { return classes }
      limit *= 2
    }
  }
}
