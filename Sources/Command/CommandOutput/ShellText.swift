// SPDX-License-Identifier: Apache-2.0
import FirestoreText

/// A text typed in `hearth shell`, split into commands and words as a shell does. Blanks separate words, quotes and
/// backslashes group text, `#` begins a comment, and a line break or `;` ends a command. If a word, or the part after
/// its `=`, begins with a bracket, it ends at the matching bracket. So JSON needs no quotes. The text after a `|` is
/// passed to the system's shell, up to the end of the line.
package struct ShellText {
  package enum Statement: Hashable, Sendable {
    case command([String], line: Int)
    /// A command whose output is piped through a system command.
    case piped([String], into: String, line: Int)
    /// `\name` and the rest of its line.
    case backslash(name: String, rest: String, line: Int)

    package var line: Int {
      switch self {
      case .command(_, let line), .piped(_, _, let line), .backslash(_, _, let line): line
      }
    }
  }

  package struct Failure: Error, Hashable, Sendable {
    package var line: Int
    package var reason: String
    /// Whether the text is incomplete, so that additional text can make it valid.
    package var isUnfinished = false

    package init(line: Int, reason: String, isUnfinished: Bool = false) {
      (self.line, self.reason, self.isUnfinished) = (line, reason, isUnfinished)
    }
  }

  /// The quote, bracket or backslash that is not closed at the end of a text.
  package enum Opening: Hashable, Sendable {
    case quote(Character)
    case bracket
    case backslash
  }

  /// The last word of a text.
  package struct LastWord: Hashable, Sendable {
    /// The word as a command would receive it.
    package var text = ""
    /// The start of the word, in characters.
    package var start: Int
    package var opening: Opening?

    package init(text: String = "", start: Int, opening: Opening? = nil) {
      (self.text, self.start, self.opening) = (text, start, opening)
    }
  }

  /// Whether `|` ends a command. In text for another shell, `|` is a separate word.
  private var takesPipes = true
  private var statements: [Statement] = []
  private var words: [String] = []
  private var word: String?
  /// Whether no part of the word was quoted.
  private var isPlain = true
  private var wordStart = 0
  private var line = 1
  private var firstLine = 1
  private var opening: (kind: Opening, line: Int)?
  private var failure: Failure?

  /// - Throws: if the text is incomplete, or if it contains syntax that only other shells understand.
  package static func statements(in text: String) throws(Failure) -> [Statement] {
    var reader = ShellText()
    reader.read(Array(text))
    if let opening = reader.opening {
      let reason =
        switch opening.kind {
        case .quote(let quote): "the quote \(quote) is not closed."
        case .bracket: "a bracket is not closed."
        case .backslash: "nothing follows the backslash at the end."
        }
      throw Failure(line: opening.line, reason: reason, isUnfinished: true)
    }
    reader.endStatement()
    if let failure = reader.failure { throw failure }
    return reader.statements
  }

  /// Whether a text ends inside quotes or brackets, or with a backslash.
  package static func isUnfinished(_ text: String) -> Bool {
    var reader = ShellText()
    reader.read(Array(text))
    return reader.opening != nil
  }

  /// The words of the last command in a text, and its last word, which may be empty. Returns `nil` if the text ends
  /// inside a comment.
  package static func end(of text: some Sequence<Character>) -> (words: [String], last: LastWord)? {
    var reader = ShellText()
    reader.takesPipes = false
    let characters = Array(text)
    guard reader.read(characters) else { return nil }
    guard let word = reader.word else { return (reader.words, LastWord(start: characters.count)) }
    return (reader.words, LastWord(text: word, start: reader.wordStart, opening: reader.opening?.kind))
  }

  /// - Returns: `false` if the text ends inside a comment.
  @discardableResult
  private mutating func read(_ text: [Character]) -> Bool {
    var index = 0
    while index < text.count {
      let character = text[index]
      if character == "#", word == nil {
        guard let end = text[index...].firstIndex(where: \.isNewline) else { return false }
        index = end
      } else if takesPipes, character == "|", word == nil, !words.isEmpty,
        index + 1 == text.count || text[index + 1] != "|"
      {
        let end = text[index...].firstIndex(where: \.isNewline) ?? text.count
        pipe(into: String(text[(index + 1)..<end]))
        index = end
      } else if character == "\\", word == nil, words.isEmpty {
        let end = text[index...].firstIndex(where: \.isNewline) ?? text.count
        take(backslash: text[(index + 1)..<end])
        index = end
      } else {
        index = step(text, index)
      }
    }
    return true
  }

  /// Reads the next character or group of characters outside of quotes, at an index.
  /// - Returns: the index after it.
  private mutating func step(_ text: [Character], _ index: Int) -> Int {
    let character = text[index]
    switch character {
    case _ where character.isNewline:
      endStatement()
      line += 1
    case ";": endStatement()
    case _ where character.isWhitespace: endWord()
    case "'", "\"":
      begin(at: index)
      isPlain = false
      return quoted(text, index + 1, by: character)
    case "\\":
      guard index + 1 < text.count else {
        begin(at: index)
        opening = (.backslash, line)
        return index + 1
      }
      if text[index + 1].isNewline {
        endWord()
        line += 1
      } else {
        begin(at: index)
        isPlain = false
        word?.append(text[index + 1])
      }
      return index + 2
    case "{", "[":
      guard word == nil || word?.last == "=" else {
        word?.append(character)
        return index + 1
      }
      begin(at: index)
      return bracketed(text, index)
    default:
      begin(at: index)
      word?.append(character)
    }
    return index + 1
  }

  private mutating func quoted(_ text: [Character], _ start: Int, by quote: Character) -> Int {
    let firstLine = line
    var index = start
    while index < text.count, text[index] != quote {
      if quote == "\"", text[index] == "\\", index + 1 < text.count, "\"\\$`".contains(text[index + 1]) { index += 1 }
      if text[index].isNewline { line += 1 }
      word?.append(text[index])
      index += 1
    }
    if index == text.count { opening = (.quote(quote), firstLine) }
    return index + 1
  }

  /// Reads the text up to the matching bracket, unchanged.
  private mutating func bracketed(_ text: [Character], _ start: Int) -> Int {
    let firstLine = line
    var depth = 0
    var isText = false
    var index = start
    while index < text.count {
      let character = text[index]
      word?.append(character)
      index += 1
      if character.isNewline { line += 1 }
      if isText {
        if character == "\\", index < text.count {
          word?.append(text[index])
          index += 1
        } else if character == "\"" {
          isText = false
        }
        continue
      }
      switch character {
      case "\"": isText = true
      case "{", "[": depth += 1
      case "}", "]":
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
    }
    opening = (.bracket, firstLine)
    return index
  }

  private mutating func begin(at index: Int) {
    if word != nil { return }
    if words.isEmpty { firstLine = line }
    (word, wordStart, isPlain) = ("", index, true)
  }

  private mutating func endWord() {
    guard let word else { return }
    if isPlain, Self.foreign.contains(word), failure == nil {
      failure = Failure(
        line: line,
        reason:
          "\(word) is not supported here. Quote conditions, as in --where 'total > 5'. Use \\o FILE to write to a "
          + "file, and \\! for the system shell.")
    }
    words.append(word)
    self.word = nil
  }

  private mutating func endStatement() {
    endWord()
    // The program's name is dropped, for commands pasted from a manual.
    if words.first == "hearth" { words.removeFirst() }
    if !words.isEmpty { statements.append(.command(words, line: firstLine)) }
    words = []
  }

  private mutating func pipe(into text: String) {
    let text = String(text.trimming())
    if words.first == "hearth" { words.removeFirst() }
    if text.isEmpty, failure == nil { failure = Failure(line: line, reason: "nothing follows the |.") }
    if !words.isEmpty { statements.append(.piped(words, into: text, line: firstLine)) }
    words = []
  }

  private mutating func take(backslash text: ArraySlice<Character>) {
    let isSign = text.first.map { "?!".contains($0) } ?? false
    let name = isSign ? text.prefix(1) : text.prefix { !$0.isWhitespace }
    let rest = String(text.dropFirst(name.count)).trimming()
    var word = name
    // Trailing semicolons are dropped, for commands pasted from a shell that ends every statement with one.
    if word.count > 1, rest.isEmpty { while word.last == ";" { word.removeLast() } }
    statements.append(.backslash(name: String(word), rest: String(rest), line: line))
  }

  private static let foreign: Set<String> = ["||", "&", "&&", ">", ">>", "<", "2>", ">&", ">=", "<=", "==", "!="]
}

extension ShellText {
  /// Quotes a text so that it parses as a single word with the same text.
  /// - Parameters:
  ///   - opening: the quote that is already typed.
  ///   - isComplete: whether to close the quote.
  package static func typed(_ text: String, in opening: Opening? = nil, isComplete: Bool = true) -> String {
    switch opening {
    case .quote("'"): return "'" + text.replacing("'", with: "'\\''") + (isComplete ? "'" : "")
    case .quote:
      let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      return "\"" + escaped + (isComplete ? "\"" : "")
    case .bracket: return text
    case nil, .backslash: return PlainText.shellWord(text)
    }
  }
}
