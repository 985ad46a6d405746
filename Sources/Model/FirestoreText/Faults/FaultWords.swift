// SPDX-License-Identifier: Apache-2.0
import Spelling

/// The words of a text about faults, with their places.
struct FaultWords {
  struct Word {
    let text: String
    /// Counted from 1, in scalars.
    let column: Int

    /// The error of a word in the place of another one, with the nearest of those that may stand there.
    func unexpected(_ expected: String, _ candidates: [String]) -> TextError {
      let near = NearestName.suggestion(for: text, among: candidates).map { " Is \($0) meant?" } ?? ""
      return TextError(column: column, "\"\(text)\" is not expected here. Expected \(expected).\(near)")
    }
  }

  private var cursor: TextCursor

  init(_ text: String) { cursor = TextCursor(text) }

  mutating func next() -> Word? {
    cursor.skipSpace()
    if cursor.isAtEnd { return nil }
    let column = cursor.column
    return Word(text: cursor.take { !$0.properties.isWhitespace }, column: column)
  }

  /// Passes the word if it stands here.
  mutating func take(_ word: String) -> Bool {
    let place = cursor
    if next()?.text == word { return true }
    cursor = place
    return false
  }

  func missing(_ expected: String) -> TextError { TextError(column: cursor.column, "Expected \(expected) here.") }

  /// Reads a word that must be there, and be one of some.
  mutating func required(_ expected: String, among words: [String]) throws(TextError) -> String {
    guard let word = next() else { throw missing(expected) }
    guard words.contains(word.text) else { throw word.unexpected(expected, words) }
    return word.text
  }

  /// Reads a value that must be there.
  /// - Returns: `nil` for `off`, and for zero of a time or a share.
  mutating func orOff<Value>(
    _ expected: String, _ read: (Word) throws(TextError) -> Value
  ) throws(TextError) -> Value? {
    guard let word = next() else { throw missing(expected) }
    return ["off", "0", "0ms", "0s", "0%"].contains(word.text) ? nil : try read(word)
  }
}
