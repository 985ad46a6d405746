// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// Values as people type them on a command line: JSON with the `$` types of `DocumentJSON` where the text begins like
/// it, numbers, `true`, `false` and `null`; any other text is a string and needs no quotes, unless it looks like
/// something else (`PlainText`).
enum ValueText {
  /// - Parameters:
  ///   - column: where the text begins in its argument.
  ///   - isName: the value is compared with `__name__`, so that a path is what is meant.
  static func parse(
    _ text: some StringProtocol, database: DatabaseID, column: Int = 1, isName: Bool = false
  ) throws(ArgumentError) -> Value {
    let text = String(text)
    func plain() throws(ArgumentError) -> Value {
      if !isName, let objection = PlainText.objection(to: text) { throw ArgumentError(column: column, objection) }
      return .string(text)
    }
    switch text.utf8.first {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""):
      return try json(text, database, column)
    case UInt8(ascii: "'"):
      guard text.utf8.count > 1, text.utf8.last == UInt8(ascii: "'") else {
        throw ArgumentError(column: column, "The quote is not closed.")
      }
      let content = text.dropFirst().dropLast()
      if let quote = content.firstIndex(of: "'") {
        throw ArgumentError(
          column: column + text.unicodeScalars.distance(from: text.startIndex, to: quote),
          "The quote ends the text here, and more follows. Text with a single quote in it stands in double quotes.")
      }
      return .string(String(content))
    case let first? where "-0123456789tfn".utf8.contains(first):
      // A date or an address begins like a number, and a name like a keyword.
      if let value = try? DocumentJSON.parseValue(text, database: database) { return value }
      return try plain()
    default:
      return try plain()
    }
  }

  /// The operand of `in` and its like: a JSON array, or plain values between brackets with commas.
  static func parseList(
    _ text: some StringProtocol, database: DatabaseID, column: Int, isName: Bool = false
  ) throws(ArgumentError) -> Value {
    let text = String(text)
    guard text.hasPrefix("[") else { throw ArgumentError(column: column, "Expected a list, such as [CA, NV].") }
    guard text.hasSuffix("]") else {
      throw ArgumentError(column: column + text.unicodeScalars.count, "Expected \"]\" at the end of the list.")
    }
    let inner = text.dropFirst().dropLast()
    if inner.allSatisfy(\.isWhitespace) || inner.contains(where: { "\"'[]{}".contains($0) }) {
      return try json(text, database, column)
    }
    var values: [Value] = []
    var column = column + 1
    for part in inner.split(separator: ",", omittingEmptySubsequences: false) {
      let word = part.trimming()
      if word.isEmpty { throw ArgumentError(column: column, "Expected a value before the comma or bracket.") }
      values.append(try parse(word, database: database, column: column, isName: isName))
      column += part.unicodeScalars.count + 1
    }
    return .array(values)
  }

  private static func json(_ text: String, _ database: DatabaseID, _ column: Int) throws(ArgumentError) -> Value {
    do throws(JSONError) {
      return try DocumentJSON.parseValue(text, database: database)
    } catch {
      throw ArgumentError(error, from: column)
    }
  }
}

extension StringProtocol {
  /// Without white space at both ends.
  func trimming() -> SubSequence {
    let start = firstIndex { !$0.isWhitespace } ?? endIndex
    let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? start
    return self[start..<end]
  }
}

/// `500ms`, `5s`, `2m`, `1h`; a number alone counts seconds.
enum DurationText {
  static func parse(_ text: String) throws -> Duration {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(digits.count)
    let seconds: Double? =
      switch unit {
      case "ms": 0.001
      case "", "s": 1
      case "m": 60
      case "h": 3600
      default: nil
      }
    guard let number = Double(digits), let seconds, number > 0, number * seconds < 1e9 else {
      throw ArgumentError("Expected a time such as 500ms, 5s or 2m.")
    }
    return .milliseconds(Int64((number * seconds * 1000).rounded()))
  }
}

extension ArgumentError: CustomStringConvertible {
  /// As the argument parser shows it, after the option's name.
  var description: String { column.map { "column \($0): \(reason)" } ?? reason }
}

/// What is wrong with the text of one argument, and where in it.
struct ArgumentError: Error, Hashable, Sendable {
  /// From 1, in Unicode scalars; `nil` when all of it is meant.
  var column: Int?
  var reason: String

  init(column: Int? = nil, _ reason: String) {
    self.column = column
    self.reason = reason
  }

  /// - Parameter column: where the JSON begins in the argument.
  init(_ error: JSONError, from column: Int) {
    self.init(column: error.line == 1 ? column + error.column - 1 : column, error.reason)
  }

  /// - Parameter argument: the option's name, such as `--where`; empty for an argument without one.
  func failure(_ argument: String, _ text: String) -> CommandFailure {
    let place = column.map { ", column \($0)" } ?? ""
    return CommandFailure(.usage, "\(argument)\(argument.isEmpty ? "" : " ")'\(text)'\(place): \(reason)")
  }
}
