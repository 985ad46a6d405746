// SPDX-License-Identifier: Apache-2.0
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

  private(set) var outages: [Outage] = []

  mutating func note(isOffline: Bool, at now: Timestamp) {
    let isRunning = outages.last.map { $0.end == nil } ?? false
    if isOffline, !isRunning {
      outages.append(Outage(start: now))
      if outages.count > Self.limit { outages.removeFirst() }
    } else if !isOffline, isRunning {
      outages[outages.count - 1].end = now
    }
  }

  /// Outages that the ruler shows.
  func recent(at now: Timestamp) -> [Outage] {
    outages.filter { ($0.end ?? now) > now.advanced(seconds: -Self.span) }
  }

  /// For each of `columns` parts of the span, oldest first, whether an outage touches it.
  func ruler(columns: Int, at now: Timestamp) -> [Bool] {
    guard columns > 0 else { return [] }
    let begin = now.advanced(seconds: -Self.span)
    return (0..<columns).map { column in
      let from = begin.advanced(seconds: Self.span * Int64(column) / Int64(columns))
      let to = begin.advanced(seconds: Self.span * Int64(column + 1) / Int64(columns))
      return outages.contains { $0.start < to && ($0.end ?? to) > from && $0.start <= now }
    }
  }
}
