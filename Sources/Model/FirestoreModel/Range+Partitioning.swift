// SPDX-License-Identifier: Apache-2.0

extension Range<Int> {
  /// The first index that satisfies the predicate, if all indexes that do come last; the upper bound if none does.
  /// Takes as many calls of the predicate as the count has binary digits.
  @inlinable
  package func partitioningIndex(where predicate: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if predicate(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
