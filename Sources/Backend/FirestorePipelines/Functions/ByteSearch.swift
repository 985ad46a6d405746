// SPDX-License-Identifier: Apache-2.0

/// A search for bytes in bytes, in time proportional to both (Knuth, Morris, Pratt, 1977).
struct ByteSearch {
  private let pattern: [UInt8]
  /// The length of the longest proper prefix of the pattern that ends each of its prefixes, by their length less one.
  private let borders: [Int]

  /// - Precondition: `pattern` is not empty.
  init(_ pattern: [UInt8]) {
    self.pattern = pattern
    var (borders, length) = ([0], 0)
    for byte in pattern.dropFirst() {
      while length > 0, byte != pattern[length] { length = borders[length - 1] }
      if byte == pattern[length] { length += 1 }
      borders.append(length)
    }
    self.borders = borders
  }

  /// The index at which the first occurrence from a place on begins.
  func first(in text: [UInt8], from start: Int = 0) -> Int? {
    var length = 0
    for index in start..<max(start, text.count) {
      while length > 0, text[index] != pattern[length] { length = borders[length - 1] }
      if text[index] == pattern[length] { length += 1 }
      if length == pattern.count { return index + 1 - length }
    }
    return nil
  }

  /// The parts of a text between the occurrences, which do not overlap.
  /// - Parameter most: the largest number of occurrences that split the text.
  func split(_ text: [UInt8], most: Int = .max) -> [ArraySlice<UInt8>] {
    var (parts, start) = ([ArraySlice<UInt8>](), 0)
    while parts.count < most, let found = first(in: text, from: start) {
      parts.append(text[start..<found])
      start = found + pattern.count
    }
    return parts + [text[start...]]
  }
}
