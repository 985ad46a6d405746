// SPDX-License-Identifier: Apache-2.0

/// A value of a record.
package enum StoredValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real
  /// A blob, or a text as UTF-8.
  case bytes([UInt8])

  package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  package var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
}

extension StoredValue: SQLValue {
  package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .integer(let number): number.bind(to: statement, at: index)
    case .bytes(let bytes): bytes.bind(to: statement, at: index)
    case .null, .real: Int64?.none.bind(to: statement, at: index)
    }
  }
}

/// A row of a table, with its number, or an entry of an index or of a table without row numbers.
package struct StoredRecord: Hashable, Sendable {
  package var number: Int64?
  package var values: [StoredValue]
}

/// The b-trees of SQLite's file format (sqlite.org/fileformat2.html, sections 1.6 and 2), page by page.
extension DatabasePages {
  /// Visits every record that can be read, in the order of pages, whichever table it belongs to.
  /// - Parameter onlyLogged: whether to visit only the pages that the log has.
  /// - Returns: the number of pages and records that cannot be read. Free pages do not count.
  package func forEachRecord<Failure: Error>(
    onlyLogged: Bool = false, _ visit: (StoredRecord) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    var unreadable = 0
    guard pageCount > 0 else { return 0 }
    for number in 1...UInt32(pageCount) where !free.contains(number) && (!onlyLogged || isLogged(number)) {
      guard let page = page(number) else {
        unreadable += 1
        continue
      }
      guard let tree = TreePage(page, start: number == 1 ? 100 : 0, usable: usableSize) else { continue }
      for index in 0..<tree.count {
        guard let record = record(tree, index) else {
          unreadable += 1
          continue
        }
        try visit(record)
      }
    }
    return unreadable
  }

  private func record(_ tree: TreePage, _ index: Int) -> StoredRecord? {
    guard let cell = tree.cell(index) else { return nil }
    var payload = [UInt8](tree.page[cell.payload..<cell.payload + cell.local])
    payload.reserveCapacity(cell.size)
    if cell.local < cell.size {
      var next = tree.page.word(cell.payload + cell.local)
      var visited: Set<UInt32> = []
      while payload.count < cell.size {
        guard next != 0, visited.insert(next).inserted, let page = page(next) else { return nil }
        payload.append(contentsOf: page[4..<min(usableSize, 4 + cell.size - payload.count)])
        next = page.word(0)
      }
    }
    return Self.values(payload).map { StoredRecord(number: cell.number, values: $0) }
  }

  /// Reads the size of the header, the type of each value, and the values.
  private static func values(_ payload: [UInt8]) -> [StoredValue]? {
    var reader = VarintReader(payload, from: 0)
    guard let size = reader.next(), size <= payload.count else { return nil }
    let headerEnd = Int(size)
    var (offset, values): (Int, [StoredValue]) = (headerEnd, [])
    while reader.position < headerEnd {
      guard let type = reader.next(), reader.position <= headerEnd else { return nil }
      let width = Self.width(of: type)
      guard width >= 0, offset + width <= payload.count else { return nil }
      values.append(Self.value(type, payload[offset..<offset + width]))
      offset += width
    }
    return values
  }

  /// The number of bytes of a value of a type; negative for a type that does not exist.
  private static func width(of type: Int64) -> Int {
    switch type {
    case 0, 8, 9: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    case 12...Int64(Int32.max): Int((type - 12) / 2)
    default: -1
    }
  }

  private static func value(_ type: Int64, _ bytes: ArraySlice<UInt8>) -> StoredValue {
    switch type {
    case 0: .null
    case 7: .real
    case 8, 9: .integer(type - 8)
    case 1...6:
      .integer(bytes.dropFirst().reduce(Int64(Int8(bitPattern: bytes.first ?? 0))) { $0 << 8 | Int64($1) })
    default: .bytes(Array(bytes))
    }
  }
}

/// A page of a b-tree that holds records: a leaf of a table, or any page of an index.
struct TreePage {
  struct Cell {
    var number: Int64?
    /// The payload's position, its whole size, and the size of its part on this page.
    var payload: Int
    var size: Int
    var local: Int
  }

  let page: [UInt8]
  let count: Int
  private let kind: UInt8
  private let pointers: Int
  private let usable: Int

  private static let (indexInterior, indexLeaf, tableLeaf): (UInt8, UInt8, UInt8) = (2, 10, 13)

  /// - Returns: `nil` for any other page.
  init?(_ page: [UInt8], start: Int, usable: Int) {
    kind = page[start]
    guard [Self.indexInterior, Self.indexLeaf, Self.tableLeaf].contains(kind) else { return nil }
    pointers = start + (kind == Self.indexInterior ? 12 : 8)
    count = Int(page[start + 3]) << 8 | Int(page[start + 4])
    guard pointers + 2 * count <= usable else { return nil }
    self.page = page
    self.usable = usable
  }

  func cell(_ index: Int) -> Cell? {
    let place = pointers + 2 * index
    let start = (Int(page[place]) << 8 | Int(page[place + 1])) + (kind == Self.indexInterior ? 4 : 0)
    guard start < usable else { return nil }
    var reader = VarintReader(page, from: start)
    guard let size = reader.next(), (0...Int64(Int32.max)).contains(size) else { return nil }
    var number: Int64?
    if kind == Self.tableLeaf {
      guard let value = reader.next() else { return nil }
      number = value
    }
    let local = local(Int(size))
    let end = reader.position + local + (local < size ? 4 : 0)
    return end <= usable ? Cell(number: number, payload: reader.position, size: Int(size), local: local) : nil
  }

  /// The size of the payload's part on the page itself: all of it, or the part that leaves only full overflow pages.
  private func local(_ size: Int) -> Int {
    let most = kind == Self.tableLeaf ? usable - 35 : (usable - 12) * 64 / 255 - 23
    if size <= most { return size }
    let least = (usable - 12) * 32 / 255 - 23
    let filling = least + (size - least) % (usable - 4)
    return filling <= most ? filling : least
  }
}

/// Numbers of one to nine bytes, seven bits in each but the ninth.
struct VarintReader {
  private let bytes: [UInt8]
  private(set) var position: Int

  init(_ bytes: [UInt8], from position: Int) {
    self.bytes = bytes
    self.position = position
  }

  mutating func next() -> Int64? {
    var value: UInt64 = 0
    for count in 1...9 {
      guard position < bytes.count else { return nil }
      let byte = bytes[position]
      position += 1
      if count == 9 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte & 0x80 == 0 { return Int64(bitPattern: value) }
    }
    return nil
  }
}
