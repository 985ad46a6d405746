// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON

/// A position in a text that a user typed.
package struct TextCursor {
  package let scalars: [Unicode.Scalar]
  /// The position in Unicode scalars, from 0 to the number of scalars.
  package var position = 0

  package init(_ text: String) { scalars = Array(text.unicodeScalars) }

  /// The column of the position for messages, from 1.
  package var column: Int { position + 1 }
  package var isAtEnd: Bool { position >= scalars.count }
  package var next: Unicode.Scalar? { isAtEnd ? nil : scalars[position] }
  /// The previous scalar, or a space if the position is at the start.
  var previous: Unicode.Scalar { position > 0 ? scalars[position - 1] : " " }

  package mutating func skipSpace() {
    while let next, next.properties.isWhitespace { position += 1 }
  }

  package mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  /// Skips the given text if it comes next.
  /// - Returns: whether the text came next.
  package mutating func take(_ text: String) -> Bool {
    guard scalars[position...].starts(with: text.unicodeScalars) else { return false }
    position += text.unicodeScalars.count
    return true
  }

  /// Skips scalars while `belongs` returns true, and returns the skipped scalars.
  package mutating func take(while belongs: (Unicode.Scalar) -> Bool) -> String {
    let start = position
    while let next, belongs(next) { position += 1 }
    return text(start..<position)
  }

  package func text(_ range: Range<Int>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars[range])
    return String(view)
  }

  /// The word at a position, which consists of letters, digits, `_` and `-`.
  func word(at place: Int) -> String {
    let end = scalars[place...].firstIndex { !Self.belongsToWord($0) } ?? scalars.count
    return text(place..<end)
  }

  /// Whether the position `length` scalars after this one is whitespace or the end of the text.
  func isSpace(after length: Int) -> Bool {
    let end = position + length
    return end >= scalars.count || scalars[end].properties.isWhitespace
  }

  /// The scalars up to the next whitespace, for messages.
  var found: String {
    let end = scalars[position...].firstIndex { $0.properties.isWhitespace } ?? scalars.count
    return text(position..<end)
  }

  private static func belongsToWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar == "-" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
  }
}

extension StringProtocol {
  /// The text without leading and trailing whitespace.
  package func trimming() -> SubSequence {
    let start = firstIndex { !$0.isWhitespace } ?? endIndex
    let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? start
    return self[start..<end]
  }
}

/// The error for a typed text that cannot be parsed. Contains the reason and the position.
package struct TextError: Error, Hashable, Sendable {
  /// The column in Unicode scalars, from 1; `nil` if the error is about the whole text.
  package var column: Int?
  package var reason: String

  package init(column: Int? = nil, _ reason: String) {
    self.column = column
    self.reason = reason
  }

  /// - Parameter column: the column at which the JSON starts in the text.
  package init(_ error: JSONError, from column: Int) {
    self.init(column: error.line == 1 ? column + error.column - 1 : column, error.reason)
  }

  /// A copy of the error for a text that begins `columns` scalars later.
  package func moved(by columns: Int) -> TextError { TextError(column: (column ?? 1) + columns, reason) }
}

extension TextError: CustomStringConvertible {
  package var description: String { column.map { "column \($0): \(reason)" } ?? reason }
}
