// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON

/// A place in a typed text.
package struct TextCursor {
  package let scalars: [Unicode.Scalar]
  /// Counted in scalars, from 0 to their number.
  package var position = 0

  package init(_ text: String) { scalars = Array(text.unicodeScalars) }

  /// Counted from 1, for messages.
  package var column: Int { position + 1 }
  package var isAtEnd: Bool { position >= scalars.count }
  package var next: Unicode.Scalar? { isAtEnd ? nil : scalars[position] }
  /// A space at the beginning.
  var previous: Unicode.Scalar { position > 0 ? scalars[position - 1] : " " }

  package mutating func skipSpace() {
    while let next, next.properties.isWhitespace { position += 1 }
  }

  package mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  /// - Returns: whether the scalars stand here, which are then passed.
  package mutating func take(_ text: String) -> Bool {
    guard scalars[position...].starts(with: text.unicodeScalars) else { return false }
    position += text.unicodeScalars.count
    return true
  }

  /// Passes what belongs, and returns it.
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

  /// The word of letters, digits, `_` and `-` at a place.
  func word(at place: Int) -> String {
    let end = scalars[place...].firstIndex { !Self.belongsToWord($0) } ?? scalars.count
    return text(place..<end)
  }

  /// Whether white space or the end follows so many scalars after this place.
  func isSpace(after length: Int) -> Bool {
    let end = position + length
    return end >= scalars.count || scalars[end].properties.isWhitespace
  }

  /// The scalars up to the next white space, for messages.
  var found: String {
    let end = scalars[position...].firstIndex { $0.properties.isWhitespace } ?? scalars.count
    return text(position..<end)
  }

  private static func belongsToWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar == "-" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
  }
}

extension StringProtocol {
  /// The text without white space at both ends.
  package func trimming() -> SubSequence {
    let start = firstIndex { !$0.isWhitespace } ?? endIndex
    let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? start
    return self[start..<end]
  }
}

/// Names why a typed text is not understood, and the place in it.
package struct TextError: Error, Hashable, Sendable {
  /// Counted from 1, in Unicode scalars; `nil` when all of the text is meant.
  package var column: Int?
  package var reason: String

  package init(column: Int? = nil, _ reason: String) {
    self.column = column
    self.reason = reason
  }

  /// - Parameter column: where the JSON begins in the text.
  package init(_ error: JSONError, from column: Int) {
    self.init(column: error.line == 1 ? column + error.column - 1 : column, error.reason)
  }

  /// The same error about a text that stands behind so many other scalars.
  package func moved(by columns: Int) -> TextError { TextError(column: (column ?? 1) + columns, reason) }
}

extension TextError: CustomStringConvertible {
  package var description: String { column.map { "column \($0): \(reason)" } ?? reason }
}
