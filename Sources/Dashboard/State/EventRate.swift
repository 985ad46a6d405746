// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Feed events per second over the last seconds: the figure and the sparkline of the header. The second that is not
/// over does not count, so that the header changes once a second and not with every event.
struct EventRate: Sendable {
  private static let span: Int64 = 8
  /// The figure is the mean of so many seconds.
  private static let window: Int64 = 4

  private var counts: [Int64: Int] = [:]

  mutating func note(_ count: Int, at time: Timestamp) {
    counts = counts.filter { $0.key >= time.seconds &- Self.span && $0.key <= time.seconds }
    counts[time.seconds, default: 0] += count
  }

  /// Events of each of the last `span` whole seconds, oldest first.
  func history(at now: Timestamp) -> [Double] {
    (0..<Self.span).map { Double(counts[now.seconds &- (Self.span - $0)] ?? 0) }
  }

  /// Events of the second that is not over.
  func uncounted(at now: Timestamp) -> Int { counts[now.seconds] ?? 0 }

  func perSecond(at now: Timestamp) -> Int {
    let sum = history(at: now).suffix(Int(Self.window)).reduce(0, +)
    return Int((sum / Double(Self.window)).rounded(.up))
  }

  /// Whether the figure or the sparkline will change by itself as time passes.
  func isDecaying(at now: Timestamp) -> Bool { uncounted(at: now) > 0 || history(at: now).contains { $0 > 0 } }
}
