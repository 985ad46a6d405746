// SPDX-License-Identifier: Apache-2.0

/// Parses a complete TOML 1.0 text (https://toml.io/en/v1.0.0).
///
/// The result is a table or an error for every text. All indices, sizes and depths in the text are checked before they
/// are used.
struct TOMLReader {
  /// The maximum nesting of tables and arrays. It prevents a stack overflow.
  private static let maximumDepth = 100

  var cursor: TOMLCursor
  private let root = TableNode(.header)
  /// The table to which the last header refers, and the depth of this table.
  private var current: TableNode
  private var currentDepth = 0

  init(_ text: String) {
    cursor = TOMLCursor(text)
    current = root
  }

  mutating func read() throws(TOMLError) -> TOMLTable {
    while cursor.next != nil {
      cursor.skipBlanks()
      if cursor.next == UInt8(ascii: "[") {
        try readHeader()
      } else if let next = cursor.next, !Self.endsLine(next) {
        try readPair(into: current, depth: currentDepth)
      }
      try readLineEnd()
    }
    return root.table
  }

  private static func endsLine(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "#") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }

  private mutating func readLineEnd() throws(TOMLError) {
    cursor.skipBlanks()
    try readComment()
    if cursor.next == nil || cursor.takeNewline() { return }
    throw cursor.error("expected the end of the line, found \(cursor.found)")
  }

  private mutating func readComment() throws(TOMLError) {
    guard cursor.take("#" as Character) else { return }
    _ = cursor.take { !TOMLCursor.isControl($0) }
    guard let next = cursor.next, next != UInt8(ascii: "\n"), !(next == UInt8(ascii: "\r") && cursor[1] == 0x0A) else {
      return
    }
    throw cursor.error("a comment contains a control character")
  }

  // MARK: Headers and keys

  /// Reads a header, `[a.b]` or `[[a.b]]`.
  private mutating func readHeader() throws(TOMLError) {
    let start = cursor.position
    let isElement = cursor.take("[[" as StaticString)
    if !isElement { cursor.advance() }
    cursor.skipBlanks()
    let keys = try readKeys(depth: 0)
    guard isElement ? cursor.take("]]" as StaticString) : cursor.take("]" as Character) else {
      throw cursor.error("expected \(isElement ? "\"]]\"" : "\"]\"") after the table name, found \(cursor.found)")
    }
    var table = root
    for key in keys.dropLast() {
      switch table[key] {
      case nil: table = table.add(key, .implied)
      case .table(let inner): table = inner
      case .tables(let tables): table = tables.last
      case .value: throw cursor.error("\(Self.name(key)) is not a table that can be extended", at: start)
      }
    }
    // A header has at least one key.
    guard let last = keys.last else { return }
    switch (table[last], isElement) {
    case (nil, false): current = table.add(last, .header)
    case (nil, true): current = table.addElement(last)
    case (.tables(let tables), true): current = tables.append()
    case (.table(let inner), false) where inner.origin == .implied:
      inner.origin = .header
      current = inner
    case (_?, _): throw cursor.error("\(Self.name(last)) is already defined", at: start)
    }
    currentDepth = keys.count
  }

  /// Reads a dotted key such as `a."b".'c'`, and the whitespace after it.
  private mutating func readKeys(depth: Int) throws(TOMLError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    repeat {
      cursor.skipBlanks()
      if depth + keys.count >= Self.maximumDepth {
        throw cursor.error("more than \(Self.maximumDepth) levels of tables")
      }
      keys.append(try readKey())
      cursor.skipBlanks()
    } while cursor.take("." as Character)
    return keys
  }

  private mutating func readKey() throws(TOMLError) -> [UInt8] {
    switch cursor.next {
    case UInt8(ascii: "\""): return try readBasicString()
    case UInt8(ascii: "'"): return try readLiteralString()
    default:
      let key = cursor.take(while: Self.isBare)
      if key.isEmpty { throw cursor.error("expected a key, found \(cursor.found)") }
      return Array(key)
    }
  }

  private static func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func name(_ key: [UInt8]) -> String { "\"\(String(decoding: key, as: UTF8.self))\"" }

  /// Reads a key and its value, such as `a.b = value`.
  private mutating func readPair(into table: TableNode, depth: Int) throws(TOMLError) {
    let start = cursor.position
    let keys = try readKeys(depth: depth)
    guard cursor.take("=" as Character) else {
      throw cursor.error("expected \"=\" after a key, found \(cursor.found)")
    }
    cursor.skipBlanks()
    var table = table
    for key in keys.dropLast() {
      switch table[key] {
      case nil: table = table.add(key, .dotted)
      case .table(let inner) where inner.origin != .header:
        inner.origin = .dotted
        table = inner
      case _?: throw cursor.error("\(Self.name(key)) is not a table that can be extended here", at: start)
      }
    }
    guard let last = keys.last else { return }
    if table[last] != nil { throw cursor.error("\(Self.name(last)) is already defined", at: start) }
    table.add(last, try readValue(depth: depth + keys.count))
  }

  // MARK: Values

  private mutating func readValue(depth: Int) throws(TOMLError) -> TOMLValue {
    switch cursor.next {
    case UInt8(ascii: "\""):
      let text = cursor.take(#"""""# as StaticString) ? try readLongBasicString() : try readBasicString()
      return .string(String(decoding: text, as: UTF8.self))
    case UInt8(ascii: "'"):
      let text = cursor.take("'''" as StaticString) ? try readLongLiteralString() : try readLiteralString()
      return .string(String(decoding: text, as: UTF8.self))
    case UInt8(ascii: "["): return .array(try readArray(depth: depth))
    case UInt8(ascii: "{"): return .table(try readInlineTable(depth: depth))
    default: return try readScalar()
    }
  }

  private mutating func readArray(depth: Int) throws(TOMLError) -> [TOMLValue] {
    let start = cursor.position
    if depth >= Self.maximumDepth { throw cursor.error("more than \(Self.maximumDepth) levels of arrays") }
    cursor.advance()
    var elements: [TOMLValue] = []
    while true {
      try skipLines(of: start)
      if cursor.take("]" as Character) { return elements }
      elements.append(try readValue(depth: depth + 1))
      try skipLines(of: start)
      if cursor.take("]" as Character) { return elements }
      guard cursor.take("," as Character) else {
        throw cursor.error("expected \",\" or \"]\" after an element, found \(cursor.found)")
      }
    }
  }

  /// Skips whitespace, comments and line ends.
  private mutating func skipLines(of start: Int) throws(TOMLError) {
    repeat {
      cursor.skipBlanks()
      try readComment()
    } while cursor.takeNewline()
    if cursor.next == nil { throw cursor.error("this array has no end", at: start) }
  }

  private mutating func readInlineTable(depth: Int) throws(TOMLError) -> TOMLTable {
    if depth >= Self.maximumDepth { throw cursor.error("more than \(Self.maximumDepth) levels of tables") }
    cursor.advance()
    let table = TableNode(.dotted)
    cursor.skipBlanks()
    if cursor.take("}" as Character) { return table.table }
    while true {
      try readPair(into: table, depth: depth)
      cursor.skipBlanks()
      if cursor.take("}" as Character) { return table.table }
      guard cursor.take("," as Character) else {
        throw cursor.error("expected \",\" or \"}\" after a value, found \(cursor.found)")
      }
    }
  }
}

/// A position in a TOML text.
struct TOMLCursor {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
    // A byte order mark has no meaning in UTF-8, but some editors write one.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// The byte at the cursor; `nil` at the end of the text.
  var next: UInt8? { self[0] }

  /// The byte `offset` bytes after the cursor; `nil` after the end of the text.
  subscript(offset: Int) -> UInt8? {
    position + offset < bytes.count ? bytes[position + offset] : nil
  }

  /// - Parameter count: at most the number of remaining bytes.
  mutating func advance(by count: Int = 1) { position += count }

  /// Consumes the byte if it comes next.
  mutating func take(_ byte: Character) -> Bool {
    guard let value = byte.asciiValue, next == value else { return false }
    position += 1
    return true
  }

  /// Consumes the bytes of the text if they come next.
  mutating func take(_ text: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard bytes[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  /// Consumes a line end if it comes next.
  mutating func takeNewline() -> Bool { take("\n" as StaticString) || take("\r\n" as StaticString) }

  mutating func skipBlanks() {
    while next == UInt8(ascii: " ") || next == UInt8(ascii: "\t") { position += 1 }
  }

  /// Consumes bytes while `isWanted` returns true.
  mutating func take(while isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let start = position
    while position < bytes.count, isWanted(bytes[position]) { position += 1 }
    return bytes[start..<position]
  }

  /// Creates an error at a position in the text, by default at the cursor.
  func error(_ reason: String, at place: Int? = nil) -> TOMLError {
    let before = bytes[..<(place ?? position)]
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    // UTF-8 continuation bytes are not columns.
    let column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1
    return TOMLError(line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: column, reason: reason)
  }

  /// A description of the next character for an error message.
  var found: String {
    guard let next else { return "the end of the file" }
    if next == UInt8(ascii: "\n") || next == UInt8(ascii: "\r") { return "the end of the line" }
    if Self.isControl(next) { return "a control character" }
    let rest = bytes[position..<min(bytes.count, position + 4)]
    guard let scalar = String(decoding: rest, as: UTF8.self).unicodeScalars.first else { return "nothing" }
    return "\"\(scalar)\""
  }

  /// Whether a byte is a control character that TOML forbids in texts.
  static func isControl(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != 0x09) || byte == 0x7F }
}
