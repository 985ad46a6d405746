// SPDX-License-Identifier: Apache-2.0

/// A place in the text of an argument.
struct TextCursor {
  let scalars: [Unicode.Scalar]
  /// In scalars, from 0 to their number.
  var position = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  /// From 1, for messages.
  var column: Int { position + 1 }
  var isAtEnd: Bool { position >= scalars.count }
  var next: Unicode.Scalar? { isAtEnd ? nil : scalars[position] }

  mutating func skipSpace() {
    while let next, next.properties.isWhitespace { position += 1 }
  }

  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  /// - Returns: whether the scalars stand here, which are then passed.
  mutating func take(_ text: String) -> Bool {
    guard scalars[position...].starts(with: text.unicodeScalars) else { return false }
    position += text.unicodeScalars.count
    return true
  }

  func text(_ range: Range<Int>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars[range])
    return String(view)
  }

  /// The letters, digits, `_` and `-` that stand at a place.
  func word(at place: Int) -> String {
    let end = scalars[place...].firstIndex { !Self.belongsToWord($0) } ?? scalars.count
    return text(place..<end)
  }

  /// Up to the next white space, for messages.
  var found: String {
    let end = scalars[position...].firstIndex { $0.properties.isWhitespace } ?? scalars.count
    return text(position..<end)
  }

  private static func belongsToWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar == "-" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
  }
}
