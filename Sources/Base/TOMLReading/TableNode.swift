// SPDX-License-Identifier: Apache-2.0

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
