// SPDX-License-Identifier: Apache-2.0

/// A TOML 1.0 table: its keys, in the order of their first occurrence in the text, and their values.
package struct TOMLTable: Hashable, Sendable {
  /// The values, indexed by the UTF-8 bytes of their keys. Swift strings cannot be used as keys, because different TOML
  /// keys with the same canonical form would be equal.
  private var values: [[UInt8]: TOMLValue] = [:]
  package private(set) var keys: [String] = []

  package init() {}

  /// - Throws: the first error, if the text is not valid TOML.
  package init(parsing text: String) throws(TOMLError) {
    var reader = TOMLReader(text)
    self = try reader.read()
  }

  package subscript(key: String) -> TOMLValue? { values[Array(key.utf8)] }

  /// - Parameter key: a key that the table does not have yet.
  mutating func append(_ key: [UInt8], _ value: TOMLValue) {
    keys.append(String(decoding: key, as: UTF8.self))
    values[key] = value
  }
}

/// A TOML value.
package enum TOMLValue: Hashable, Sendable {
  case string(String)
  case integer(Int64)
  case float(Double)
  case boolean(Bool)
  /// A valid date, time, or date with time, with or without an offset. It is stored as it is spelled in the text.
  case time(String)
  case array([TOMLValue])
  case table(TOMLTable)

  package var string: String? { if case .string(let text) = self { text } else { nil } }
  package var int: Int? { if case .integer(let number) = self { Int(exactly: number) } else { nil } }
  package var bool: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
  package var array: [TOMLValue]? { if case .array(let elements) = self { elements } else { nil } }
  package var table: TOMLTable? { if case .table(let table) = self { table } else { nil } }
}

/// The reason why a text is not valid TOML, and the position.
package struct TOMLError: Error, Hashable, Sendable {
  /// The line and the column, both from 1. Columns count Unicode scalars.
  package var line: Int
  package var column: Int
  /// A description of the expected content or of the mistake, without a full stop.
  package var reason: String
}

extension TOMLError: CustomStringConvertible {
  /// The reason and the column. Messages about a file already contain the line.
  package var description: String { "\(reason) (column \(column))" }
}

/// A table that is being read. Its origin determines which headers and keys may add entries to it.
final class TableNode {
  enum Origin {
    /// Created by a longer header: `a` in `[a.b]`. One separate header for this table may follow.
    case implied
    /// Created by a header. Entries can be added only by the lines below this header, and by headers of tables inside
    /// this table.
    case header
    /// Created by a dotted key: `a` in `a.b = 1`. Entries can be added only by keys, and by headers of tables inside
    /// this table.
    case dotted
  }

  enum Entry {
    case value(TOMLValue)
    case table(TableNode)
    case tables(TableNodes)
  }

  var origin: Origin
  private var entries: [[UInt8]: Entry] = [:]
  private var order: [[UInt8]] = []

  init(_ origin: Origin) { self.origin = origin }

  subscript(key: [UInt8]) -> Entry? { entries[key] }

  func add(_ key: [UInt8], _ value: TOMLValue) { insert(key, .value(value)) }

  func add(_ key: [UInt8], _ origin: Origin) -> TableNode {
    let table = TableNode(origin)
    insert(key, .table(table))
    return table
  }

  /// - Returns: the first element of the new array of tables.
  func addElement(_ key: [UInt8]) -> TableNode {
    let tables = TableNodes()
    insert(key, .tables(tables))
    return tables.last
  }

  private func insert(_ key: [UInt8], _ entry: Entry) {
    entries[key] = entry
    order.append(key)
  }

  /// A copy of the table with everything read so far.
  var table: TOMLTable {
    var table = TOMLTable()
    for key in order {
      switch entries[key] {
      case .value(let value): table.append(key, value)
      case .table(let inner): table.append(key, .table(inner.table))
      case .tables(let tables): table.append(key, .array(tables.all.map { .table($0.table) }))
      case nil: break
      }
    }
    return table
  }
}

/// The tables of `[[a]]`. There is always at least one.
final class TableNodes {
  private var others: [TableNode] = []
  private(set) var last = TableNode(.header)

  var all: [TableNode] { others + [last] }

  func append() -> TableNode {
    others.append(last)
    last = TableNode(.header)
    return last
  }
}
