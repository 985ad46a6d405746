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

/// A table while its text is read; its origin decides which headers and keys may add to it.
final class TableNode {
  enum Origin {
    /// Stands before others in a header: `a` in `[a.b]`. A header of its own may come once.
    case implied
    /// Has had a header. Only what stands below it adds to it, and headers of tables inside it.
    case header
    /// Stands before others in a key: `a` in `a.b = 1`. Only keys add to it, and headers of tables inside it.
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

  /// - Returns: the first element of an array of tables.
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

/// The tables of `[[a]]`, of which there is always one.
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
