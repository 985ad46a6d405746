// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import CommandTransfer
import Foundation
import TerminalCanvas

/// A line that the user edits. Keys change the line or load another line from the history. The caller handles all other
/// keys.
struct LineEditor: Sendable {
  enum Outcome: Hashable, Sendable {
    /// The line has changed and must be drawn.
    case edited
    /// The user has submitted the text.
    case submit(String)
    case complete
    /// The line was discarded.
    case dropped
    case end
    case suspend
    case clearScreen
    /// The key does nothing here.
    case nothing
  }

  private struct Search: Hashable, Sendable {
    var pattern = ""
    /// The index of the history entry that is shown; `nil` for none.
    var index: Int?
    /// The line as it was before the search.
    var before: LineBuffer
    var hasFailed = false
  }

  private(set) var buffer = LineBuffer()
  private var search: Search?
  /// The entries of the history, oldest first.
  private let entries: [String]
  /// The index of the history entry that is shown. The new line has the index after the last entry.
  private var place: Int
  /// History entries that the user changed before loading another entry, by index.
  private var changed: [Int: String] = [:]

  /// - Parameters:
  ///   - entries: the previous lines, oldest first.
  ///   - buffer: a buffer with an empty line and the text that was last cut.
  init(entries: [String], buffer: LineBuffer = LineBuffer()) {
    self.entries = entries
    self.buffer = buffer
    place = entries.count
  }

  /// The prompt before the text. During a search, returns the search prompt.
  func prompt(_ usual: ShellPrompt) -> ShellPrompt {
    guard let search else { return usual }
    return ShellPrompt("\(search.hasFailed ? "no entry with" : "search") '\(SafeText.sanitized(search.pattern))': ")
  }

  mutating func handle(_ event: InputEvent) -> Outcome {
    switch event {
    case .paste(let text):
      endSearch()
      // Terminals send line breaks as carriage returns.
      buffer.insert(String(text.map { $0.isNewline ? "\n" : $0 }))
      return .edited
    case .key(let key):
      if search != nil, let outcome = searchKey(key) { return outcome }
      return self.key(key)
    case .mouse, .focus, .resize, .reply: return .nothing
    }
  }

  // MARK: Keys

  private mutating func key(_ key: Key) -> Outcome {
    if let typed = key.typedCharacter {
      buffer.insert(String(typed))
      return .edited
    }
    switch key {
    case Key(.enter), .ctrl("j"): return submit()
    case Key(.enter, .alt): buffer.insert("\n")
    case Key(.tab): return .complete
    case .ctrl("c"):
      buffer.replace(with: "")
      return .dropped
    case .ctrl("d"):
      if buffer.isEmpty { return .end }
      buffer.deleteOn()
    case .ctrl("z"): return .suspend
    case .ctrl("l"): return .clearScreen
    case .ctrl("r"):
      search = Search(before: buffer)
    case Key(.up), .ctrl("p"): if !buffer.moveUp() { fetch(place - 1) }
    case Key(.down), .ctrl("n"): if !buffer.moveDown() { fetch(place + 1) }
    default: return edit(key)
    }
    return .edited
  }

  private mutating func edit(_ key: Key) -> Outcome {
    switch key {
    case Key(.left), .ctrl("b"): buffer.move(by: -1)
    case Key(.right), .ctrl("f"): buffer.move(by: 1)
    case Key(.home), .ctrl("a"): buffer.moveToLineStart()
    case Key(.end), .ctrl("e"): buffer.moveToLineEnd()
    case Key(.left, .ctrl), Key(.left, .alt), .alt("b"): buffer.moveBackByWord()
    case Key(.right, .ctrl), Key(.right, .alt), .alt("f"): buffer.moveOnByWord()
    case Key(.backspace): buffer.deleteBack()
    case Key(.delete): buffer.deleteOn()
    case .ctrl("k"): buffer.cutToLineEnd()
    case .ctrl("u"): buffer.cutToLineStart()
    case .ctrl("w"): buffer.cutBlankWordBack()
    case Key(.backspace, .alt): buffer.cutWordBack()
    case .alt("d"): buffer.cutWordOn()
    case .ctrl("y"): buffer.paste()
    case .ctrl("t"): buffer.transpose()
    default: return .nothing
    }
    return .edited
  }

  /// Submits the text. If the text ends inside quotes or brackets, it continues on the next line instead.
  private mutating func submit() -> Outcome {
    buffer.moveToEnd()
    guard ShellText.isUnfinished(buffer.text) else { return .submit(buffer.text) }
    buffer.insert("\n")
    return .edited
  }

  // MARK: History

  private mutating func fetch(_ wanted: Int) {
    guard (0...entries.count).contains(wanted) else { return }
    changed[place] = buffer.text
    place = wanted
    buffer.replace(with: changed[wanted] ?? (wanted < entries.count ? entries[wanted] : ""))
  }

  /// - Returns: `nil` if the key ends the search. The key then has its usual effect.
  private mutating func searchKey(_ key: Key) -> Outcome? {
    guard var search else { return nil }
    if let typed = key.typedCharacter {
      search.pattern.append(typed)
      find(&search, from: search.index ?? entries.count - 1)
      return .edited
    }
    switch key {
    case .ctrl("r"): find(&search, from: (search.index ?? entries.count) - 1)
    case Key(.backspace):
      if !search.pattern.isEmpty { search.pattern.removeLast() }
      find(&search, from: entries.count - 1)
    case .ctrl("g"), .ctrl("c"):
      buffer = search.before
      self.search = nil
    case Key(.escape): endSearch()
    default:
      endSearch()
      return nil
    }
    return .edited
  }

  private mutating func find(_ search: inout Search, from start: Int) {
    let pattern = search.pattern
    let found = entries.indices.prefix { $0 <= start }.last { entries[$0].localizedStandardContains(pattern) }
    search.hasFailed = found == nil && !pattern.isEmpty
    if let found {
      search.index = found
      buffer.replace(with: entries[found])
    }
    self.search = search
  }

  private mutating func endSearch() {
    if let index = search?.index { place = index }
    search = nil
  }

  mutating func moveToEnd() { buffer.moveToEnd() }

  // MARK: Completion

  /// The text before the cursor.
  var typed: ArraySlice<Character> { buffer.characters[..<buffer.cursor] }

  /// Replaces the typed part of a word with the completed word.
  mutating func complete(from start: Int, with text: String) { buffer.replace(from: start, with: text) }
}

/// A text with a cursor. It is edited with the Emacs keys that shells use.
struct LineBuffer: Hashable, Sendable {
  private(set) var characters: [Character] = []
  /// The position of the cursor, from 0 to the number of characters.
  private(set) var cursor = 0
  /// The text that was last cut.
  private var cut: [Character] = []

  var text: String { String(characters) }
  var isEmpty: Bool { characters.isEmpty }
  var isAtEnd: Bool { cursor == characters.count }

  /// Replaces the text and moves the cursor to its end. The text that was last cut is kept.
  mutating func replace(with text: String) {
    characters = Array(text)
    cursor = characters.count
  }

  mutating func insert(_ text: String) {
    let added = Array(text)
    characters.insert(contentsOf: added, at: cursor)
    // A combining mark joins the preceding character.
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

  /// - Returns: `false` if the cursor is on the first line.
  mutating func moveUp() -> Bool {
    let start = lineStart
    guard start > 0 else { return false }
    let column = cursor - start
    cursor = start - 1
    cursor = min(lineStart + column, start - 1)
    return true
  }

  /// - Returns: `false` if the cursor is on the last line.
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

  /// Cuts the text before the cursor, back to the previous blank.
  mutating func cutBlankWordBack() {
    var start = cursor
    while start > 0, characters[start - 1].isWhitespace { start -= 1 }
    while start > 0, !characters[start - 1].isWhitespace { start -= 1 }
    cut(start..<cursor)
  }

  mutating func paste() { insert(String(cut)) }

  /// Swaps the character before the cursor with the character at the cursor.
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

  // MARK: Positions

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
