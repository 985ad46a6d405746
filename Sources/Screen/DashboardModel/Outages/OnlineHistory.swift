// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreModel

/// The times at which the client went offline and came back: the outage ruler of pane 3.
package struct OnlineHistory: Sendable {
  package struct Outage: Hashable, Sendable {
    package var start: Timestamp
    /// The end; `nil` while the outage lasts.
    package var end: Timestamp?
  }

  /// The ruler's length in seconds.
  static let span: Int64 = 600
  private static let limit = 64

  /// The state of the connection in a part of the span.
  package enum Part: Hashable, Sendable { case unknown, online, outage }

  package private(set) var outages: [Outage] = []
  /// The time from which the state is known.
  private var beginning: Timestamp?

  /// - Parameter isKnown: whether the connection has been seen to work or to fail.
  package mutating func note(isOffline: Bool, isKnown: Bool, at now: Timestamp) {
    if beginning == nil, isOffline || isKnown { beginning = now }
    let isRunning = outages.last.map { $0.end == nil } ?? false
    if isOffline, !isRunning {
      outages.append(Outage(start: now))
      if outages.count > Self.limit { outages.removeFirst() }
    } else if !isOffline, isRunning {
      outages[outages.count - 1].end = now
    }
  }

  /// Moves all times, after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    beginning = beginning.map(moved)
    outages = outages.map { Outage(start: moved($0.start), end: $0.end.map(moved)) }
  }

  /// Outages that the ruler shows.
  func recent(at now: Timestamp) -> [Outage] {
    outages.filter { ($0.end ?? now) > now.advanced(seconds: -Self.span) }
  }

  /// The possible lengths of a part of the ruler, in seconds.
  private static let steps: [Int64] = [10, 15, 20, 30, 40, 60, 75, 120, 300]

  /// The state in each part of the span, oldest first; an outage that touches a part counts. Parts begin at whole
  /// multiples of their length, so that past parts move and never change.
  /// - Parameter columns: the largest number of parts.
  package func ruler(columns: Int, at now: Timestamp) -> [Part] {
    guard columns > 0 else { return [] }
    let step = Self.steps.first { Self.span <= $0 * Int64(columns) } ?? Self.span
    let count = Self.span / step
    let last = now.seconds / step
    return (0..<count).map { index in
      let from = Timestamp(seconds: (last - count + 1 + index) * step)
      let to = from.advanced(seconds: step)
      guard let beginning, beginning < to else { return .unknown }
      return outages.contains { $0.start < to && ($0.end ?? to) > from && $0.start <= now } ? .outage : .online
    }
  }
}
