// SPDX-License-Identifier: Apache-2.0

/// A table of TOML 1.0: its keys in the order in which the text first names them, and their values.
package struct TOMLTable: Hashable, Sendable {
  /// Values by the UTF-8 bytes of their keys; Swift's strings also compare equal when only their canonical forms agree.
  private var values: [[UInt8]: TOMLValue] = [:]
  package private(set) var keys: [String] = []

  package init() {}

  /// - Throws: for a text that is no TOML, at the first place where that shows.
  package init(parsing text: String) throws(TOMLError) {
    var reader = TOMLReader(text)
    self = try reader.read()
  }

  package subscript(key: String) -> TOMLValue? { values[Array(key.utf8)] }

  /// - Parameter key: one that the table does not have yet.
  mutating func append(_ key: [UInt8], _ value: TOMLValue) {
    keys.append(String(decoding: key, as: UTF8.self))
    values[key] = value
  }
}

/// The value of a key in TOML.
package enum TOMLValue: Hashable, Sendable {
  case string(String)
  case integer(Int64)
  case float(Double)
  case boolean(Bool)
  /// A date, a time, or both, with or without an offset: a valid one, in the spelling of the text.
  case time(String)
  case array([TOMLValue])
  case table(TOMLTable)

  package var string: String? { if case .string(let text) = self { text } else { nil } }
  package var int: Int? { if case .integer(let number) = self { Int(exactly: number) } else { nil } }
  package var bool: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
  package var array: [TOMLValue]? { if case .array(let elements) = self { elements } else { nil } }
  package var table: TOMLTable? { if case .table(let table) = self { table } else { nil } }
}

/// The reason why a text is no TOML, and its place.
package struct TOMLError: Error, Hashable, Sendable {
  /// Both from 1; columns are Unicode scalars.
  package var line: Int
  package var column: Int
  /// Names what was expected, or what is wrong; no full stop.
  package var reason: String
}

extension TOMLError: CustomStringConvertible {
  /// The reason and the column; messages about a file give the line elsewhere.
  package var description: String { "\(reason) (column \(column))" }
}
