// SPDX-License-Identifier: Apache-2.0

/// Numbers counted in classes, each twice as wide as the one below: one number more or less changes few of them.
package struct Histogram: Hashable, Sendable {
  /// The numbers up to `limit` that are above the class below.
  package struct Class: Hashable, Sendable {
    package var limit: Int
    package var count: Int
  }

  private let sorted: [Int]

  package init(_ values: some Sequence<Int>) { sorted = values.map { max(0, $0) }.sorted() }

  package var count: Int { sorted.count }

  /// The smallest number that so many of a hundred are not above.
  package func percentile(_ share: Int) -> Int { sorted.isEmpty ? 0 : sorted[min(count - 1, count * share / 100)] }

  /// The classes from the first to the last that hold a number.
  package var classes: [Class] {
    guard let first = sorted.first, let last = sorted.last else { return [] }
    var classes: [Class] = []
    var limit = 1
    while limit < first { limit *= 2 }
    while true {
      let below = classes.isEmpty ? -1 : limit / 2
      classes.append(Class(limit: limit, count: sorted.count { $0 > below && $0 <= limit }))
      guard limit < last, limit <= Int.max / 2 else { return classes }
      limit *= 2
    }
  }
}
