// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreText
import Glibc

/// The condition that ends `hearth watch --until`.
package enum WatchGoal: Hashable, Sendable {
  /// A number of printed changes.
  case count(Int)
  /// A printed change of this kind.
  case change(WatchedChange.Kind)
  /// A printed snapshot that is in sync with the server.
  case synced

  package static func parse(_ text: String) throws -> WatchGoal {
    if let count = Int(text), count > 0 { return .count(count) }
    if text == "synced" { return .synced }
    if let kind = WatchedChange.Kind(rawValue: text) { return .change(kind) }
    throw TextError("Expected a number of changes, or added, modified, removed, metadata or synced.")
  }
}

/// Counts printed changes towards a goal.
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
