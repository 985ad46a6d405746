// SPDX-License-Identifier: Apache-2.0

/// A text that is edited at a cursor, with the Emacs keys that shells have.
struct LineBuffer: Hashable, Sendable {
  private(set) var characters: [Character] = []
  /// The place of the cursor, from 0 to the number of characters.
  private(set) var cursor = 0
  /// The text that was cut last.
  private var cut: [Character] = []

  var text: String { String(characters) }
  var isEmpty: Bool { characters.isEmpty }
  var isAtEnd: Bool { cursor == characters.count }

  /// Replaces the text, with the cursor behind it; the cut text stays.
  mutating func replace(with text: String) {
    characters = Array(text)
    cursor = characters.count
  }

  mutating func insert(_ text: String) {
    let added = Array(text)
    characters.insert(contentsOf: added, at: cursor)
    // A combining mark joins the character before it.
    let end = String(characters[..<(cursor + added.count)]).count
    characters = Array(String(characters))
    cursor = min(end, characters.count)
  }

  /// Replaces the text between an index and the cursor.
  mutating func replace(from start: Int, with text: String) {
    characters.removeSubrange(start..<cursor)
    cursor = start
    insert(text)
  }

  // MARK: Moving

  mutating func move(by offset: Int) { cursor = min(max(cursor + offset, 0), characters.count) }
  mutating func moveToLineStart() { cursor = lineStart }
  mutating func moveToLineEnd() { cursor = lineEnd }
  mutating func moveToEnd() { cursor = characters.count }
  mutating func moveBackByWord() { cursor = wordStart }
  mutating func moveOnByWord() { cursor = wordEnd }

  /// - Returns: `false` on the first line.
  mutating func moveUp() -> Bool {
    let start = lineStart
    guard start > 0 else { return false }
    let column = cursor - start
    cursor = start - 1
    cursor = min(lineStart + column, start - 1)
    return true
  }

  /// - Returns: `false` on the last line.
  mutating func moveDown() -> Bool {
    let end = lineEnd
    guard end < characters.count else { return false }
    let column = cursor - lineStart
    cursor = end + 1
    cursor = min(end + 1 + column, lineEnd)
    return true
  }

  // MARK: Deleting

  mutating func deleteBack() {
    guard cursor > 0 else { return }
    cursor -= 1
    characters.remove(at: cursor)
  }

  mutating func deleteOn() {
    if cursor < characters.count { characters.remove(at: cursor) }
  }

  mutating func cutToLineEnd() {
    cut(cursor..<max(lineEnd, min(cursor + (lineEnd == cursor ? 1 : 0), characters.count)))
  }
  mutating func cutToLineStart() { cut(lineStart..<cursor) }
  mutating func cutWordOn() { cut(cursor..<wordEnd) }
  mutating func cutWordBack() { cut(wordStart..<cursor) }

  /// Cuts the text back to the last blank.
  mutating func cutBlankWordBack() {
    var start = cursor
    while start > 0, characters[start - 1].isWhitespace { start -= 1 }
    while start > 0, !characters[start - 1].isWhitespace { start -= 1 }
    cut(start..<cursor)
  }

  mutating func paste() { insert(String(cut)) }

  /// Exchanges the characters before and at the cursor.
  mutating func transpose() {
    let index = isAtEnd ? cursor - 1 : cursor
    guard index > 0 else { return }
    characters.swapAt(index - 1, index)
    cursor = index + 1
  }

  private mutating func cut(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    cut = Array(characters[range])
    characters.removeSubrange(range)
    cursor = range.lowerBound
  }

  // MARK: Places

  private var lineStart: Int { (characters[..<cursor].lastIndex(where: \.isNewline) ?? -1) + 1 }
  private var lineEnd: Int { characters[cursor...].firstIndex(where: \.isNewline) ?? characters.count }

  private var wordStart: Int {
    var start = cursor
    while start > 0, !Self.isOfWord(characters[start - 1]) { start -= 1 }
    while start > 0, Self.isOfWord(characters[start - 1]) { start -= 1 }
    return start
  }

  private var wordEnd: Int {
    var end = cursor
    while end < characters.count, !Self.isOfWord(characters[end]) { end += 1 }
    while end < characters.count, Self.isOfWord(characters[end]) { end += 1 }
    return end
  }

  private static func isOfWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_"
  }
}
