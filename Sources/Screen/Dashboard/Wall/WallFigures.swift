// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
import FirestoreModel

/// The figures of the wall up to a second, which is not part of them: what is drawn, and what `hearth wall --json` prints.
package struct WallFigures: Sendable {
  package struct Row: Sendable {
    package var listener: ListenerRecord
    /// Whether the documents are those of the cache.
    package var isFromCache: Bool
    /// The events of each second, oldest first.
    package var events: [Int]
    /// The mean of the last seconds.
    package var perSecond: Double
    package var mix: ValueMix.Shown?
  }

  /// The second before which everything happened that is shown.
  package let end: Int64
  private let frame: FrameState

  package init(_ frame: FrameState, end: Int64) {
    self.frame = frame
    self.end = end
  }

  package func row(of listener: ListenerRecord) -> Row {
    let series = frame.state.wall.events(of: listener.tag)
    let rate = Double(series.sum(Wall.rateSpan, before: end)) / Double(Wall.rateSpan)
    return Row(
      listener: listener,
      isFromCache: listener.failure == nil && listener.count != nil
        && (listener.isFromCache || frame.state.network.isOffline),
      events: series.last(Wall.span, before: end), perSecond: rate,
      mix: listener.failure == nil ? frame.state.listening.result(of: listener.tag)?.mix : nil)
  }

  package var made: [Int] { frame.state.wall.made.last(Wall.span, before: end) }
  package var acknowledged: [Int] { frame.state.wall.acknowledged.last(Wall.span, before: end) }
  package var rejected: [Int] { frame.state.wall.rejected.last(Wall.span, before: end) }

  /// The longest round trip of each second in milliseconds, as `Wall.roundTrips` keeps it: 0 for none, else one more.
  package var roundTrips: [Int] { frame.state.wall.roundTrips.last(Wall.span, before: end) }

  /// The round trips of late in milliseconds; before any was seen, those that the client has kept.
  package var roundTripTimes: Histogram {
    let seen = frame.state.wall.recentTrips
    let kept = frame.state.network.roundTrips.map { Int(clamping: TimeText.wholeMilliseconds($0)) }
    return Histogram(seen.isEmpty ? kept : seen)
  }

  /// Whether the client was offline in a part of each second.
  package var outages: [Bool] {
    let all = frame.state.outages.all.filter { ($0.end?.seconds ?? end) >= end &- Int64(Wall.span) }
    return (0..<Wall.span).map { step in
      let second = end &- Int64(Wall.span - step)
      return all.contains { $0.start.seconds <= second && second <= ($0.end?.seconds ?? end) }
    }
  }

  /// The rows of the feed that were told before the end, newest last: at most so many.
  package func lastRows(_ count: Int) -> [FeedRow] {
    let rows = frame.state.feed.rows.suffix(Self.searched).filter { $0.kind != .divider || !$0.summary.isEmpty }
    let told = rows.filter { $0.time.seconds < end }
    return Array((told.isEmpty ? Array(rows) : Array(told)).suffix(count))
  }

  /// The number of rows among which the last ones are looked for: more in a second are not read anyway.
  private static let searched = 256
}
