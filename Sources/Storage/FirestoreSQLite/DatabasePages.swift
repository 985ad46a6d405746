// SPDX-License-Identifier: Apache-2.0
import CPageChecksums
import Glibc

/// Reads the pages of a damaged database. For each page, reads the last committed version that is intact. SQLite cannot
/// do this, because it finds pages through other pages, which may be damaged.
///
/// A page is read from the write-ahead log if the log has a newer version of it, and otherwise from the file. The log
/// is used even for intact commits that SQLite does not recover because an earlier frame is damaged.
package struct DatabasePages: ~Copyable {
  private let source: PageSource
  /// The number of damaged pages in the log. Instead of such a page, an older version is used if there is one.
  package let damagedFrames: Int
  /// The free pages, as far as the list of free pages is readable.
  let free: Set<UInt32>

  package var pageSize: Int { source.pageSize }
  package var pageCount: Int { source.pageCount }
  /// The number of bytes in a page that are available for data.
  var usableSize: Int { source.usableSize }

  /// - Parameters:
  ///   - log: the contents of the log at `logPath`; `nil` to use no log.
  package init(_ files: DatabaseFiles, _ log: WriteAheadLog?, at logPath: String) {
    let file = open(files.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    let logFile = open(logPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    var information = stat()
    let size = file >= 0 && fstat(file, &information) == 0 ? Int(information.st_size) : 0
    let pageSize = log?.pageSize ?? Self.pageSize(file)
    let (newest, damaged) = Self.newestPages(log)
    let pageCount = max(size / pageSize, Int(newest.keys.max() ?? 0))
    // The list of free pages is read before `self` exists. When this initializer called methods of `self`, release
    // builds of Swift 6.3.1 released `newest` twice.
    let source = PageSource(file: file, logFile: logFile, pageSize: pageSize, pageCount: pageCount, newest: newest)
    self.source = source
    damagedFrames = damaged
    free = source.freePages()
  }

  deinit { source.close() }

  /// The page's content; `nil` if it cannot be read.
  /// - Parameter number: the page number, from 1.
  package func page(_ number: UInt32) -> [UInt8]? { source.page(number) }

  /// Whether the log has a version of a page.
  func isLogged(_ number: UInt32) -> Bool { source.newest[number] != nil }

  private static func pageSize(_ file: Int32) -> Int {
    var bytes = [UInt8](repeating: 0, count: 2)
    let size = file >= 0 && pread(file, &bytes, 2, 16) == 2 ? Int(bytes[0]) << 8 | Int(bytes[1]) : 0
    return size >= 512 && size & (size - 1) == 0 ? size : 4096
  }

  /// - Returns: the position of each page's last committed version in the log, and the number of damaged frames.
  private static func newestPages(_ log: WriteAheadLog?) -> (newest: [UInt32: Int], damaged: Int) {
    guard let log else { return ([:], 0) }
    var newest: [UInt32: Int] = [:]
    var (damaged, waiting): (Int, [WriteAheadLog.Frame]) = (0, [])
    for frame in log.frames where frame.matchingSalts > 0 {
      waiting.append(frame)
      guard frame.isCommit, frame.isIntact else { continue }
      for frame in waiting {
        if frame.isIntact { newest[frame.page] = frame.offset } else { damaged += 1 }
      }
      waiting = []
    }
    return (newest, damaged)
  }
}

/// Reads pages from the open files of a database and its log.
private struct PageSource {
  let file: Int32
  let logFile: Int32
  let pageSize: Int
  let pageCount: Int
  /// The position of each page's newest version in the log.
  let newest: [UInt32: Int]

  var usableSize: Int { pageSize - Int(PageChecksums.reservedBytes) }

  func close() {
    for descriptor in [file, logFile] where descriptor >= 0 { _ = Glibc.close(descriptor) }
  }

  func page(_ number: UInt32) -> [UInt8]? {
    guard number > 0, Int(number) <= pageCount else { return nil }
    if let offset = newest[number] { return read(logFile, offset) }
    guard let page = read(file, (Int(number) - 1) * pageSize) else { return nil }
    return page.withUnsafeBytes { PageChecksums.isIntact($0) } ? page : nil
  }

  private func read(_ descriptor: Int32, _ offset: Int) -> [UInt8]? {
    guard descriptor >= 0 else { return nil }
    let size = pageSize
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
      count = pread(descriptor, buffer.baseAddress, size, offset)
      initialized = max(count, 0)
    }
    return count == size ? bytes : nil
  }

  /// Reads the list of free pages. Each trunk page contains the number of the next trunk page, a count, and that many
  /// page numbers.
  func freePages() -> Set<UInt32> {
    var free: Set<UInt32> = []
    var next = page(1)?.word(32) ?? 0
    while next != 0 {
      guard free.insert(next).inserted, let trunk = page(next) else { return free }
      let count = Int(trunk.word(4))
      guard count <= usableSize / 4 - 2 else { return free }
      for index in 0..<count { free.insert(trunk.word(8 + 4 * index)) }
      next = trunk.word(0)
    }
    return free
  }
}

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

/// A row of a table with its row id, or an entry of an index or of a table without row ids.
package struct StoredRecord: Hashable, Sendable {
  package var number: Int64?
  package var values: [StoredValue]
}

/// The b-trees of SQLite's file format (sqlite.org/fileformat2.html, sections 1.6 and 2), page by page.
extension DatabasePages {
  /// Visits every readable record of all tables and indexes, in page order.
  /// - Parameter onlyLogged: whether to visit only pages that are in the log.
  /// - Returns: the number of unreadable pages and records, without free pages.
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

  /// Decodes a record: the size of the header, the type of each value, and the values.
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

  /// The size in bytes of a value with this type; negative for an invalid type.
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

/// A b-tree page that contains records: a leaf of a table, or any page of an index.
struct TreePage {
  struct Cell {
    var number: Int64?
    /// The position of the payload in the page, the payload's total size, and the size of its part on this page.
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

  /// - Returns: `nil` if the page contains no records.
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

  /// The size of the part of a payload that is stored on the page. If the whole payload does not fit, this size is
  /// chosen so that all overflow pages are full.
  private func local(_ size: Int) -> Int {
    let most = kind == Self.tableLeaf ? usable - 35 : (usable - 12) * 64 / 255 - 23
    if size <= most { return size }
    let least = (usable - 12) * 32 / 255 - 23
    let filling = least + (size - least) % (usable - 4)
    return filling <= most ? filling : least
  }
}

/// Reads integers that are encoded in one to nine bytes. Each byte contains seven bits, except the ninth, which
/// contains eight.
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

/// Databases with a checksum at the end of each page, in SQLite's published format (sqlite.org/cksumvfs.html). The
/// checksum is verified when a page is read. If the page has changed on disk, the read fails instead of returning wrong
/// data.
package enum PageChecksums {
  /// The size of the checksum at the end of each page, in bytes. It must be reserved before a database has its first
  /// page.
  package static let reservedBytes = Int32(CPC_RESERVED_BYTES)

  /// The application id in the header of Hearth's databases: the ASCII codes of "Hear".
  package static let applicationID: UInt32 = 0x4865_6172

  /// The URI with which SQLite opens a file with checksums.
  /// - Throws: `notWritable` if SQLite was built without URIs.
  package static func uri(of path: String) throws(StoreError) -> String {
    guard cpc_register() == 0 else {
      throw StoreError(
        .notWritable,
        "\(path) cannot be opened: its checksums need an SQLite built with SQLITE_USE_URI.")
    }
    var uri = "file:"
    for byte in path.utf8 {
      let character = Character(Unicode.Scalar(byte))
      let isPlain = byte < 128 && (character.isLetter || character.isNumber || "/-_.~".contains(character))
      let digits = String(byte, radix: 16)
      uri += isPlain ? String(character) : "%" + (digits.count < 2 ? "0" : "") + digits
    }
    return uri + "?vfs=" + CPC_NAME
  }

  /// Whether a page is unchanged since it was written.
  package static func isIntact(_ page: UnsafeRawBufferPointer) -> Bool {
    guard let start = page.baseAddress, page.count > Int(CPC_RESERVED_BYTES), page.count % 8 == 0 else { return false }
    return cpc_is_intact(start, page.count) != 0
  }
}
