// SPDX-License-Identifier: Apache-2.0

/// A word of the language.
struct RulesToken: Equatable {
  enum Kind: Equatable {
    case identifier
    case integer(Int64)
    case float(Double)
    case string(String)
    case bytes([UInt8])
    case symbol
    case end
  }

  var kind: Kind
  /// The text of the token as it is written; a string without its quotes.
  var text: String
  var range: Range<Int>

  func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
  func isWord(_ word: String) -> Bool { kind == .identifier && text == word }

  /// The token in the form of error messages.
  var quoted: String { kind == .end ? "the end of the file" : "'\(text)'" }
}

/// The reason why a file of rules cannot be parsed at a place.
struct SyntaxFailure: Error {
  var range: Range<Int>
  var message: String
}
