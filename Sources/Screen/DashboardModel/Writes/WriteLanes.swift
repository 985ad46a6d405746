// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The way of a write as lanes under one time axis: made, shown by listeners, each try, what was between, the answer, and
/// each listener that had the result.
package struct WriteLanes: Sendable {
  package struct Lane: Equatable, Sendable {
    package enum Kind: Equatable, Sendable { case made, echo, offline, tried, failed, acknowledged, rejected, result }

    package let kind: Kind
    package let name: String
    package let from: Timestamp
    /// The end of what takes time; `nil` for a moment.
    package let to: Timestamp?
    package let text: String
  }

  /// A listener that showed the write, or its result, and when.
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
  ///   - echoes: the listeners that showed the write before it was answered.
  ///   - outages: the times without a server.
  ///   - results: the listeners that had the answered write.
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
        Lane(kind: .acknowledged, name: "ack", from: time, to: nil, text: "\(since(time, start)) after made"))
    case .rejected(let time, let code)?:
      lanes.append(
        Lane(kind: .rejected, name: "rejected", from: time, to: nil, text: "\(code), \(since(time, start)) after made"))
    case .cancelled(let time)?:
      lanes.append(
        Lane(kind: .rejected, name: "taken back", from: time, to: nil, text: "\(since(time, start)) after made"))
    case nil: break
    }
    lanes += results.map {
      Lane(
        kind: .result, name: "result", from: $0.time, to: nil,
        text: ($0.time >= end ? "+\(since($0.time, end)) " : "") + $0.listener)
    }
    // Lanes in the order of their beginnings read from left to right.
    let order = lanes.enumerated().sorted { ($0.element.from, $0.offset) < ($1.element.from, $1.offset) }
    self.lanes = order.map(\.element)
    scale = TimeScale(lanes.flatMap { [$0.from, $0.to].compactMap(\.self) } + (journey.end == nil ? [now] : []))
  }

  /// The same as a list, for screens without room for an axis: `+80 s ack: 80 s after made`.
  package var list: [String] {
    lanes.map { lane in
      let distance = lane.from > start ? "+" + TimeText.span(.milliseconds(lane.from.milliseconds(since: start))) : "0"
      return "\(distance) \(lane.name)" + (lane.text.isEmpty ? "" : ": \(lane.text)")
    }
  }
}

/// A time axis on which moments have columns to scale. A wait that would press all else into a few columns is broken: it
/// takes a fixed width, in which its length is written.
package struct TimeScale: Sendable {
  /// A broken wait on the axis.
  package struct Break: Equatable, Sendable {
    package let columns: Range<Int>
    /// The length, as text.
    package let text: String
  }

  /// The largest number of broken waits.
  private static let mostBreaks = 4
  /// A wait is broken that is longer than all unbroken others together so many times.
  private static let excess: Int64 = 3
  /// Longer waits, from clocks that are wrong, count as this one: a hundred years in microseconds.
  private static let longestWait: Int64 = 3_155_760_000_000_000
  /// Shorter waits are not broken: a second, in microseconds.
  private static let shortestBreak: Int64 = 1_000_000
  /// The columns of a broken wait.
  private static let breakWidth = 10

  /// The moments, ascending, each once.
  private let moments: [Timestamp]
  /// The waits between them, in microseconds.
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
      // The last wait of all needs no break: there is nothing that it would press together.
      if rest > 0, waits[index] / Self.excess > rest { broken = Set(longest[...number]) }
    }
    self.waits = waits
    self.broken = broken
  }

  /// The first column of each moment on an axis of so many columns.
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

  /// The column of one of the moments.
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

  /// The length of one column that is not broken; `nil` if all is one moment.
  package func column(width: Int) -> Duration? {
    let room = width - 1 - broken.count * Self.breakWidth
    let whole = waits.indices.filter { !broken.contains($0) }.reduce(Int64(0)) { $0 + waits[$1] }
    return room > 0 && whole > 0 ? .microseconds(whole / Int64(room)) : nil
  }
}
