// SPDX-License-Identifier: Apache-2.0

/// When `hearth watch --until` is satisfied.
enum WatchGoal: Hashable, Sendable {
  /// So many changes were printed.
  case count(Int)
  /// A change of this kind was printed.
  case change(WatchedChange.Kind)
  /// A snapshot that is in sync with the server was printed.
  case synced

  static func parse(_ text: String) throws -> WatchGoal {
    if let count = Int(text), count > 0 { return .count(count) }
    if text == "synced" { return .synced }
    if let kind = WatchedChange.Kind(rawValue: text) { return .change(kind) }
    throw ArgumentError("Expected a number of changes, or added, modified, removed, metadata or synced.")
  }
}

/// Counts what was printed against a goal.
struct WatchProgress {
  let goal: WatchGoal?
  private(set) var isReached = false
  private var count = 0

  init(_ goal: WatchGoal?) { self.goal = goal }

  mutating func printed(_ kind: WatchedChange.Kind) {
    count += 1
    if goal == .count(count) || goal == .change(kind) { isReached = true }
  }

  mutating func finishedSnapshot(isFromCache: Bool) {
    if goal == .synced, !isFromCache { isReached = true }
  }
}
