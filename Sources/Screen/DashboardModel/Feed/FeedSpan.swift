// SPDX-License-Identifier: Apache-2.0

/// Rows of the feed that follow each other, and the name of what they tell.
package struct FeedSpan: Hashable, Sendable {
  package let first: Int
  /// The last row; `nil` while more may follow.
  package let last: Int?
  package let name: String

  package init(first: Int, last: Int?, name: String) {
    self.first = first
    self.last = last
    self.name = name
  }

  func contains(_ row: Int) -> Bool { row >= first && last.map { row <= $0 } ?? true }
}
