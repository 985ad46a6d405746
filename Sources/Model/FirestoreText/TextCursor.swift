// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON

/// A position in a typed text.
package struct TextCursor {
  package let scalars: [Unicode.Scalar]
  /// The position in scalars, from 0 to their count.
  package var position = 0

  package init(_ text: String) { scalars = Array(text.unicodeScalars) }

  /// The column for messages, from 1.
  package var column: Int { position + 1 }
  package var isAtEnd: Bool { position >= scalars.count }
  package var next: Unicode.Scalar? { isAtEnd ? nil : scalars[position] }
  /// The previous scalar; a space at the start.
  var previous: Unicode.Scalar { position > 0 ? scalars[position - 1] : " " }

  package mutating func skipSpace() {
    while let next, next.properties.isWhitespace { position += 1 }
  }

  package mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  /// Skips the text if it is next.
  /// - Returns: whether the text was next.
  package mutating func take(_ text: String) -> Bool {
    guard scalars[position...].starts(with: text.unicodeScalars) else { return false }
    position += text.unicodeScalars.count
    return true
  }

  /// Skips and returns the next scalars, as long as `belongs` returns true.
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

  /// The word of letters, digits, `_` and `-` at a position.
  func word(at place: Int) -> String {
    let end = scalars[place...].firstIndex { !Self.belongsToWord($0) } ?? scalars.count
    return text(place..<end)
  }

  /// Whether whitespace or the end follows `length` scalars after this position.
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

/// The error for a typed text that cannot be parsed: the reason and the position.
package struct TextError: Error, Hashable, Sendable {
  /// The column, from 1, in Unicode scalars; `nil` if the error is about the whole text.
  package var column: Int?
  package var reason: String

  package init(column: Int? = nil, _ reason: String) {
    self.column = column
    self.reason = reason
  }

  /// - Parameter column: the start column of the JSON in the text.
  package init(_ error: JSONError, from column: Int) {
    self.init(column: error.line == 1 ? column + error.column - 1 : column, error.reason)
  }

  /// The same error for a text that follows `columns` other scalars.
  package func moved(by columns: Int) -> TextError { TextError(column: (column ?? 1) + columns, reason) }
}

extension TextError: CustomStringConvertible {
  package var description: String { column.map { "column \($0): \(reason)" } ?? reason }
}
