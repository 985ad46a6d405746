// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The documents that the server sent for each target within the last minute, by second.
package struct ReadRates: Sendable {
  private static let span: Int64 = 60

  private struct Series {
    /// The number as last told.
    var total: Int
    var parts: [(second: Int64, reads: Int)] = []
  }

  private var series: [Target: Series] = [:]
  /// Whether a status has told what was read before.
  private var hasBegun = false

  /// Notes what a status tells. What the first one tells was read before.
  package mutating func note(_ meters: [ReadMeter], at now: Timestamp) {
    var next: [Target: Series] = [:]
    for meter in meters {
      var series = series[meter.target] ?? Series(total: hasBegun ? 0 : meter.sent)
      let new = meter.sent - series.total
      // A target that is watched anew counts from none.
      if new != 0 { series.parts.append((now.seconds, new > 0 ? new : meter.sent)) }
      series.total = meter.sent
      series.parts.removeAll { $0.second <= now.seconds &- Self.span }
      next[meter.target] = series
    }
    series = next
    hasBegun = true
  }

  /// The reads of the minute before a time.
  package func lastMinute(at now: Timestamp) -> [Target: Int] {
    series.mapValues { series in
      series.parts.reduce(0) { $0 + ($1.second > now.seconds &- Self.span ? $1.reads : 0) }
    }
  }
}
