// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Hands out the entries of a tail from one end to the other, between those of the index.
struct TailReader {
  private let entries: ArraySlice<IndexTails.Entry>
  private let isReversed: Bool
  private var taken = 0

  /// - Parameter entries: in the order of the index.
  init(_ entries: ArraySlice<IndexTails.Entry>, isReversed: Bool) {
    self.entries = entries
    self.isReversed = isReversed
  }

  var next: IndexTails.Entry? {
    if taken == entries.count { return nil }
    return isReversed ? entries[entries.endIndex - 1 - taken] : entries[entries.startIndex + taken]
  }

  mutating func removeNext() { taken += 1 }

  /// Whether the next entry comes before this one of the index.
  func comes(before key: UnsafeRawBufferPointer, _ document: DocumentNumber) -> Bool {
    guard let next else { return false }
    let ordering = next.key.withUnsafeBufferPointer { own in
      Ordering.lexicographic(own, key.assumingMemoryBound(to: UInt8.self))
    }
    let isBefore = ordering == .equal ? next.document < document : ordering == .ascending
    return isBefore != isReversed
  }
}

extension [IndexTails.Entry] {
  /// The first place whose entry satisfies the predicate, where all that do come last.
  func partitioningIndex(where predicate: (IndexTails.Entry) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
