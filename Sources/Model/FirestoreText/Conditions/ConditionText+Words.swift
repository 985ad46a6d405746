// SPDX-License-Identifier: Apache-2.0

extension ConditionText {
  /// A word or sign between two conditions.
  enum Joint: String {
    case and, or

    /// The joint at a place, and how many scalars it has: a word of its own, or a sign.
    static func found(at cursor: TextCursor) -> (joint: Joint, length: Int)? {
      var ahead = cursor
      if ahead.take("&&") { return (.and, 2) }
      if ahead.take("||") { return (.or, 2) }
      guard let first = cursor.next, "aAoO".unicodeScalars.contains(first), cursor.mayBeginWord else { return nil }
      let word = cursor.word(at: cursor.position)
      let length = word.unicodeScalars.count
      guard let joint = Joint(rawValue: word.lowercased()) else { return nil }
      return cursor.isSpace(after: length) || cursor.scalars[cursor.position + length] == "(" ? (joint, length) : nil
    }
  }
}

/// A word that begins a clause in a line such as `cities where state == CA order by name limit 10`.
enum ClauseWord: String, CaseIterable {
  case `where`, order, limit, last

  /// The word at a place, if it stands alone there, and how many scalars it has.
  static func found(at cursor: TextCursor) -> (word: ClauseWord, length: Int)? {
    guard let first = cursor.next, "wWoOlL".unicodeScalars.contains(first), cursor.mayBeginWord else { return nil }
    let text = cursor.word(at: cursor.position)
    let length = text.unicodeScalars.count
    guard let word = ClauseWord(rawValue: text.lowercased()), cursor.isSpace(after: length) else { return nil }
    return (word, length)
  }
}

extension TextCursor {
  /// Whether a word that stands here is no part of another, nor of a text without quotes.
  fileprivate var mayBeginWord: Bool {
    previous.properties.isWhitespace || ")]}\"'".unicodeScalars.contains(previous)
  }
}
