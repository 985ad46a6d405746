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
