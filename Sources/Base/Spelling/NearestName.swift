// SPDX-License-Identifier: Apache-2.0

/// Suggests the correct name for a mistyped one.
package enum NearestName {
  /// The candidate that differs from the name by the fewest edits, if they are few enough for a typo: at most two, or
  /// at most a third of a longer name's length.
  package static func suggestion(for name: String, among candidates: some Sequence<String>) -> String? {
    guard let best = closest(to: name, among: candidates) else { return nil }
    return best.edits <= max(2, min(name.utf8.count, 64) / 3) ? best.name : nil
  }

  /// The candidate that differs from the name by the fewest edits, without a limit on their number.
  package static func closest(
    to name: String, among candidates: some Sequence<String>
  ) -> (name: String, edits: Int)? {
    let wanted = Array(name.lowercased().utf8.prefix(64))
    let ranked = candidates.map { (name: $0, edits: edits(from: wanted, to: Array($0.lowercased().utf8.prefix(64)))) }
    return ranked.min { ($0.edits, $0.name) < ($1.edits, $1.name) }
  }

  /// The Levenshtein distance, except that a swap of two adjacent characters counts as one edit.
  private static func edits(from one: [UInt8], to two: [UInt8]) -> Int {
    var before: [Int] = []
    var row = Array(0...two.count)
    for (i, byte) in one.enumerated() {
      var next = [i + 1]
      for j in two.indices {
        var best = min(row[j] + (byte == two[j] ? 0 : 1), next[j] + 1, row[j + 1] + 1)
        if i > 0, j > 0, byte == two[j - 1], one[i - 1] == two[j] { best = min(best, before[j - 1] + 1) }
        next.append(best)
      }
      (before, row) = (row, next)
    }
    return row[two.count]
  }
}
