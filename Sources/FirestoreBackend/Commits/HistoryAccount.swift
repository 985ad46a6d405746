// SPDX-License-Identifier: Apache-2.0

/// How large the history is, and when there is enough to drop.
struct HistoryAccount {
  /// Pruning works on at least so many rows at once, so that its cost is spread.
  static let pruningSlice = 512

  /// How many bytes are kept.
  let limit: Int64
  /// The cost of all versions; unknown until they were first counted.
  private(set) var bytes: Int64?
  /// Versions added since it was last pruned.
  private var rows = 0

  init(limit: Int64) { self.limit = limit }

  mutating func add(rows: Int, bytes: Int64) {
    self.rows += rows
    self.bytes? += bytes
  }

  /// Also while the cost is unknown: an earlier process may have kept more.
  var wantsPruning: Bool { rows >= Self.pruningSlice || (rows > 0 && bytes.map { $0 > limit } ?? true) }

  /// How many rows are dropped at most: twice as many as came, so that pruning catches up.
  var slice: Int { max(2 * rows, Self.pruningSlice) }

  /// What is to go; with some room, so that not every commit prunes.
  func excess(of bytes: Int64) -> Int64 { bytes > limit ? bytes - limit + limit / 16 : 0 }

  /// For a history that was changed in other ways: it is counted anew.
  mutating func forget() { bytes = nil }

  mutating func setBytes(_ bytes: Int64) {
    self.bytes = bytes
    rows = 0
  }
}
