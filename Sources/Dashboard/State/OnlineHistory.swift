// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel

/// When the client went offline and came back: the outage ruler of pane 3.
struct OnlineHistory: Sendable {
  struct Outage: Hashable, Sendable {
    var start: Timestamp
    /// `nil` while it lasts.
    var end: Timestamp?
  }

  /// The ruler's length in seconds.
  static let span: Int64 = 600
  private static let limit = 64

  /// What is known of a part of the span.
  enum Part: Hashable, Sendable { case unknown, online, outage }

  private(set) var outages: [Outage] = []
  /// When the first thing was known.
  private var beginning: Timestamp?

  /// - Parameter isKnown: whether the connection has been seen to work or to fail.
  mutating func note(isOffline: Bool, isKnown: Bool, at now: Timestamp) {
    if beginning == nil, isOffline || isKnown { beginning = now }
    let isRunning = outages.last.map { $0.end == nil } ?? false
    if isOffline, !isRunning {
      outages.append(Outage(start: now))
      if outages.count > Self.limit { outages.removeFirst() }
    } else if !isOffline, isRunning {
      outages[outages.count - 1].end = now
    }
  }

  /// Puts all moments elsewhere.
  mutating func move(_ moved: (Timestamp) -> Timestamp) {
    beginning = beginning.map(moved)
    outages = outages.map { Outage(start: moved($0.start), end: $0.end.map(moved)) }
  }

  /// Outages that the ruler shows.
  func recent(at now: Timestamp) -> [Outage] {
    outages.filter { ($0.end ?? now) > now.advanced(seconds: -Self.span) }
  }

  /// For each of `columns` parts of the span, oldest first, what is known; an outage that touches it counts.
  func ruler(columns: Int, at now: Timestamp) -> [Part] {
    guard columns > 0 else { return [] }
    let begin = now.advanced(seconds: -Self.span)
    return (0..<columns).map { column in
      let from = begin.advanced(seconds: Self.span * Int64(column) / Int64(columns))
      let to = begin.advanced(seconds: Self.span * Int64(column + 1) / Int64(columns))
      guard let beginning, beginning < to else { return .unknown }
      return outages.contains { $0.start < to && ($0.end ?? to) > from && $0.start <= now } ? .outage : .online
    }
  }
}

extension DashboardState {
  /// How long the present outage has lasted, `0:42`; `nil` while online.
  var outageText: String? {
    guard network.isOffline else { return nil }
    let start = outages.outages.last { $0.end == nil }?.start ?? network.since
    return TimeText.elapsed(seconds: now.wholeSeconds(since: start))
  }
}
