// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// A line of text that the user types. It supports the editing keys of a shell.
package struct TextField: Hashable, Sendable {
  package private(set) var characters: [Character]
  /// The count of characters before the insertion point.
  package private(set) var position: Int
  /// Whether the whole text is selected. A typed character or a deletion then replaces the text. An arrow key only ends
  /// the selection.
  package private(set) var isSelected = false

  /// The maximum count of characters. Longer text is cut when it is inserted.
  private let longest: Int
  /// Whether line breaks are kept. Otherwise they become spaces.
  private let keepsLines: Bool

  /// - Parameter longest: the maximum count of characters. The default is enough for any name or query.
  package init(_ text: String = "", longest: Int = 2000, keepsLines: Bool = false) {
    characters = Array(text)
    position = characters.count
    self.longest = longest
    self.keepsLines = keepsLines
  }

  /// A copy of the text field with the whole text selected, unless it is empty.
  package func selected() -> TextField {
    var field = self
    field.isSelected = !isEmpty
    return field
  }

  package var text: String { String(characters) }
  package var isEmpty: Bool { characters.isEmpty }
  var beforeCursor: String { String(characters[..<position]) }

  /// Whether a text can be inserted without being cut.
  package func holds(_ text: String) -> Bool { text.count <= longest - (isSelected ? 0 : characters.count) }

  /// Inserts typed or pasted text.
  package mutating func insert(_ text: some StringProtocol) {
    replaceSelection()
    let added = text.prefix(max(0, longest - characters.count)).map { $0.isNewline && !keepsLines ? " " : $0 }
    // A combining mark joins the preceding character, so the line is split into characters again.
    let head = String(characters[..<position]) + String(added)
    let tail = characters[position...]
    characters = Array(head)
    position = characters.count
    characters += tail
  }

  /// Applies an editing key. Returns whether the key is an editing key.
  package mutating func edit(_ key: String) -> Bool {
    if isSelected, Self.deletions.contains(key) {
      replaceSelection()
      return true
    }
    // `left` at a selected text goes to its start.
    if isSelected, key == "left" || key == "ctrl-b" { position = 0 }
    isSelected = false
    switch key {
    case "left", "ctrl-b": position = max(0, position - 1)
    case "right", "ctrl-f": position = min(characters.count, position + 1)
    case "home", "ctrl-a": position = 0
    case "end", "ctrl-e": position = characters.count
    case "backspace", "ctrl-h":
      if position > 0 {
        position -= 1
        characters.remove(at: position)
      }
    case "delete", "ctrl-d": if position < characters.count { characters.remove(at: position) }
    case "ctrl-u":
      characters.removeSubrange(..<position)
      position = 0
    case "ctrl-k": characters.removeSubrange(position...)
    case "ctrl-w":
      let start = wordStart
      characters.removeSubrange(start..<position)
      position = start
    default: return false
    }
    return true
  }

  private static let deletions: Set = ["backspace", "ctrl-h", "delete", "ctrl-d", "ctrl-u", "ctrl-k", "ctrl-w"]

  private mutating func replaceSelection() {
    guard isSelected else { return }
    (characters, position, isSelected) = ([], 0, false)
  }

  // MARK: Lines

  package var hasLines: Bool { characters.contains(where: \.isNewline) }

  /// The lines of the text, and the line and column of the insertion point.
  package var lines: (texts: [String], line: Int, column: Int) {
    let texts = characters.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { String($0) }
    let before = characters[..<position]
    let start = before.lastIndex(where: \.isNewline).map { $0 + 1 } ?? 0
    return (texts, before.count(where: \.isNewline), position - start)
  }

  /// Moves the insertion point to the same column of another line, or to the end of that line.
  package mutating func moveLine(by step: Int) {
    isSelected = false
    let (texts, line, column) = lines
    let target = min(max(0, line + step), texts.count - 1)
    let start = texts[..<target].reduce(0) { $0 + $1.count + 1 }
    position = start + min(column, texts[target].count)
  }

  private var wordStart: Int {
    var start = position
    while start > 0, characters[start - 1] == " " { start -= 1 }
    while start > 0, characters[start - 1] != " " { start -= 1 }
    return start
  }
}

extension String {
  /// The text without leading and trailing blanks.
  package var trimmed: String {
    let start = firstIndex { !$0.isWhitespace } ?? endIndex
    let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? start
    return String(self[start..<end])
  }
}

extension Canvas {
  /// Draws an input line and puts the terminal's cursor at the insertion point. The line is scrolled so that the
  /// insertion point is visible.
  package mutating func put(_ field: TextField, x: Int, y: Int, width: Int, role: Role = .input, isFocused: Bool = true)
  {
    guard width > 0 else { return }
    let text = field.text
    let before = SafeText.columns(of: field.beforeCursor)
    let scrolled = isFocused ? max(0, before - width + 1) : 0
    let clip = Rect(x: x, y: y, width: width, height: 1)
    if isFocused {
      fill(clip, role: role)
      put(text, at: Point(x: x - scrolled, y: y), role: field.isSelected ? .selection : role, clip: clip)
      cursor = Point(x: x + before - scrolled, y: y)
    } else {
      put(SafeText.truncated(text, to: width), at: Point(x: x, y: y), role: role, maxWidth: width)
    }
  }
}
