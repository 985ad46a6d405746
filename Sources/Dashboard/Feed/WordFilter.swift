// SPDX-License-Identifier: Apache-2.0

/// Words that must all occur, `!word` that must not. Capital letters in a word make it case-sensitive.
struct WordFilter: Hashable, Sendable {
  private struct Word: Hashable, Sendable {
    var text: String
    var isExcluded: Bool
    var isExact: Bool
  }

  let text: String
  private let words: [Word]

  init(_ text: String) {
    self.text = text
    words = text.split(separator: " ").compactMap { part in
      let isExcluded = part.hasPrefix("!")
      let word = isExcluded ? String(part.dropFirst()) : String(part)
      return word.isEmpty ? nil : Word(text: word, isExcluded: isExcluded, isExact: word != word.lowercased())
    }
  }

  var isEmpty: Bool { words.isEmpty }

  func matches(_ candidate: String) -> Bool {
    if words.isEmpty { return true }
    let lowered = candidate.lowercased()
    return words.allSatisfy { word in (word.isExact ? candidate : lowered).contains(word.text) != word.isExcluded }
  }
}
