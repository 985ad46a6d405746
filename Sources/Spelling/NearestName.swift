// SPDX-License-Identifier: Apache-2.0

/// Finds what a mistyped name was probably meant to be.
package enum NearestName {
  /// The candidate with the fewest edits, if those are few enough to be a slip: at most a third of the name, or two.
  package static func suggestion(for name: String, among candidates: some Sequence<String>) -> String? {
    guard let best = closest(to: name, among: candidates) else { return nil }
    return best.edits <= max(2, min(name.utf8.count, 64) / 3) ? best.name : nil
  }

  /// The candidate with the fewest edits, however many.
  package static func closest(
    to name: String, among candidates: some Sequence<String>
  ) -> (name: String, edits: Int)? {
    let wanted = Array(name.lowercased().utf8.prefix(64))
    let ranked = candidates.map { (name: $0, edits: edits(from: wanted, to: Array($0.lowercased().utf8.prefix(64)))) }
    return ranked.min { ($0.edits, $0.name) < ($1.edits, $1.name) }
  }

  /// The Levenshtein distance.
  private static func edits(from one: [UInt8], to two: [UInt8]) -> Int {
    var row = Array(0...two.count)
    for (i, byte) in one.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in two.indices {
        let substitution = diagonal + (byte == two[j] ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substitution, row[j] + 1, diagonal + 1)
      }
    }
    return row[two.count]
  }
}
