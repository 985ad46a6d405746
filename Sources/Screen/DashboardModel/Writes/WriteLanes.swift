// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The history of a write as lanes on a common time axis. The lanes show its creation, the listeners that showed it,
/// the attempts, the waits, the response, and the listeners that received the result.
package struct WriteLanes: Sendable {
  package struct Lane: Equatable, Sendable {
    package enum Kind: Equatable, Sendable { case made, echo, offline, tried, failed, acknowledged, rejected, result }

    package let kind: Kind
    package let name: String
    package let from: Timestamp
    /// The end of an interval; `nil` for a single point in time.
    package let to: Timestamp?
    package let text: String
  }

  /// A listener that showed the write or its result, and the time when it did.
  package struct Sight: Equatable, Sendable {
    package let listener: String
    package let time: Timestamp

    package init(_ listener: String, at time: Timestamp) {
      self.listener = listener
      self.time = time
    }
  }

  package let lanes: [Lane]
  package let scale: TimeScale
  package let start: Timestamp

  /// - Parameters:
  ///   - echoes: the listeners that showed the write before the server responded.
  ///   - outages: the periods in which the server was unreachable.
  ///   - results: the listeners that received the result of the write.
  package init(
    _ journey: WriteJourney, echoes: [Sight], outages: [OnlineHistory.Outage], results: [Sight], now: Timestamp
  ) {
    start = journey.made
    let end = journey.end?.time ?? now
    var lanes = [Lane(kind: .made, name: "made", from: start, to: nil, text: "")]
    func since(_ time: Timestamp, _ other: Timestamp) -> String {
      TimeText.span(.milliseconds(time.milliseconds(since: other)))
    }
    lanes += echoes.map {
      Lane(kind: .echo, name: "echo", from: $0.time, to: nil, text: "+\(since($0.time, journey.made)) \($0.listener)")
    }
    for outage in outages where outage.start < end && (outage.end ?? end) > journey.made {
      let (from, to) = (max(outage.start, journey.made), min(outage.end ?? end, end))
      lanes.append(Lane(kind: .offline, name: "offline", from: from, to: to, text: since(to, from)))
    }
    for (index, attempt) in journey.tries.enumerated() {
      let name = "try \(index + 1)"
      if let failed = attempt.failed {
        let text = "\(attempt.why ?? "no answer") after \(since(failed, attempt.sent))"
        lanes.append(Lane(kind: .failed, name: name, from: attempt.sent, to: failed, text: text))
      } else {
        let isAnswered = journey.end != nil
        let text = (isAnswered ? "answered in " : "no answer for ") + since(end, attempt.sent)
        lanes.append(Lane(kind: .tried, name: name, from: attempt.sent, to: end, text: text))
      }
    }
    switch journey.end {
    case .acknowledged(let time)?:
      lanes.append(
        Lane(kind: .acknowledged, name: "acknowledged", from: time, to: nil, text: "\(since(time, start)) after made"))
    case .rejected(let time, let code)?:
      lanes.append(
        Lane(kind: .rejected, name: "rejected", from: time, to: nil, text: "\(code), \(since(time, start)) after made"))
    case .cancelled(let time)?:
      lanes.append(
        Lane(kind: .rejected, name: "canceled", from: time, to: nil, text: "\(since(time, start)) after made"))
    case nil: break
    }
    lanes += results.map {
      Lane(
        kind: .result, name: "result", from: $0.time, to: nil,
        text: ($0.time >= end ? "+\(since($0.time, end)) " : "") + $0.listener)
    }
    // Lanes in order of their starts read from left to right.
    let order = lanes.enumerated().sorted { ($0.element.from, $0.offset) < ($1.element.from, $1.offset) }
    self.lanes = order.map(\.element)
    scale = TimeScale(lanes.flatMap { [$0.from, $0.to].compactMap(\.self) } + (journey.end == nil ? [now] : []))
  }

  /// The lanes as a list, for screens without room for an axis: `+80 s ack: 80 s after made`.
  package var list: [String] {
    lanes.map { lane in
      let distance = lane.from > start ? "+" + TimeText.span(.milliseconds(lane.from.milliseconds(since: start))) : "0"
      return "\(distance) \(lane.name)" + (lane.text.isEmpty ? "" : ": \(lane.text)")
    }
  }
}

/// A time axis with a linear scale. A wait that would leave only a few columns for everything else is shortened: it has
/// a fixed width in which its length is shown.
package struct TimeScale: Sendable {
  /// A shortened wait on the axis.
  package struct Break: Equatable, Sendable {
    package let columns: Range<Int>
    /// The length of the wait as text.
    package let text: String
  }

  /// The maximum count of shortened waits.
  private static let mostBreaks = 4
  /// A wait is shortened if it is this many times longer than all other waits together.
  private static let excess: Int64 = 3
  /// The maximum length of a wait: 100 years, in microseconds. Wrong clocks can cause longer waits.
  private static let longestWait: Int64 = 3_155_760_000_000_000
  /// The minimum length of a shortened wait: 1 s, in microseconds.
  private static let shortestBreak: Int64 = 1_000_000
  /// The width of a shortened wait in columns.
  private static let breakWidth = 10

  /// The points in time, ascending and unique.
  private let moments: [Timestamp]
  /// The waits between the points in time, in microseconds.
  private let waits: [Int64]
  private let broken: Set<Int>

  package init(_ times: [Timestamp]) {
    moments = Set(times).sorted()
    let waits = zip(moments, moments.dropFirst()).map {
      min(max(0, $1.microseconds &- $0.microseconds), Self.longestWait)
    }
    let longest = waits.indices.sorted { (waits[$0], $1) > (waits[$1], $0) }
    var broken: Set<Int> = []
    var rest = waits.reduce(Int64(0), +)
    for (number, index) in longest.prefix(Self.mostBreaks).enumerated() where waits[index] >= Self.shortestBreak {
      rest -= waits[index]
      // The last remaining wait needs no break because it squeezes nothing.
      if rest > 0, waits[index] / Self.excess > rest { broken = Set(longest[...number]) }
    }
    self.waits = waits
    self.broken = broken
  }

  /// The column of each point in time on an axis of the given width.
  private func starts(width: Int) -> [Int] {
    let room = max(0, width - 1 - broken.count * Self.breakWidth)
    let whole = waits.indices.filter { !broken.contains($0) }.reduce(Int64(0)) { $0 + waits[$1] }
    var column = 0.0
    return [0]
      + waits.indices.map { index in
        if broken.contains(index) {
          column += Double(Self.breakWidth)
        } else if whole > 0 {
          column += Double(waits[index]) / Double(whole) * Double(room)
        }
        return min(max(0, width - 1), Int(column.rounded()))
      }
  }

  /// The column of one of the points in time.
  package func column(of time: Timestamp, width: Int) -> Int {
    guard let index = moments.firstIndex(of: time) else { return 0 }
    return starts(width: width)[index]
  }

  package func breaks(width: Int) -> [Break] {
    let starts = starts(width: width)
    return broken.sorted().map { index in
      Break(
        columns: starts[index]..<max(starts[index], starts[index + 1]),
        text: TimeText.span(.microseconds(waits[index])))
    }
  }

  /// The duration that a column represents outside of shortened waits; `nil` if all points in time are equal.
  package func column(width: Int) -> Duration? {
    let room = width - 1 - broken.count * Self.breakWidth
    let whole = waits.indices.filter { !broken.contains($0) }.reduce(Int64(0)) { $0 + waits[$1] }
    return room > 0 && whole > 0 ? .microseconds(whole / Int64(room)) : nil
  }
}
