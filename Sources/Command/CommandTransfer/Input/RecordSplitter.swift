// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreJSON

/// Splits a byte stream into documents. At most one document is in memory. The splitter only finds the beginning and
/// the end of each document. `JSONSyntax` validates the document.
struct RecordSplitter {
  /// The maximum size of a record in bytes. A document has at most 1 MiB by Firestore's rules. Its JSON can be several
  /// times as long.
  static let recordLimit = 16 * 1024 * 1024

  private let format: TransferFormat
  /// The delimiter between cells; `nil` for files without rows.
  private let delimiter: Delimiter?
  private let layout: InputLayout
  private(set) var buffer: [UInt8] = []
  /// The index of the first unconsumed byte in the buffer.
  var start = 0
  private(set) var isAtEnd = false
  /// The position of the byte at `start`.
  var position: InputPosition

  /// - Parameters:
  ///   - delimiter: the delimiter between cells; `nil` for the format's default.
  ///   - layout: where the documents are in a JSON value.
  ///   - position: the position of the first bytes.
  init(
    _ format: TransferFormat, _ delimiter: Delimiter? = nil, _ layout: InputLayout = .documents,
    at position: InputPosition = InputPosition()
  ) {
    self.format = format
    self.delimiter = delimiter ?? format.delimiter
    self.layout = layout
    self.position = position
  }

  mutating func append(_ bytes: some Collection<UInt8>) {
    if start > 0 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Marks the end of the input.
  mutating func finish() { isAtEnd = true }

  /// - Returns: the next document; `nil` if more bytes are needed, or after the last document.
  mutating func next() throws(JSONError) -> InputRecord? {
    if let delimiter { return try nextRow(delimiter) }
    switch format {
    case .json: return try nextElement()
    case .jsonl, .csv, .tsv: return try nextLine()
    // An export in Google's format is not text.
    case .google: return nil
    }
  }

  // MARK: Lines

  private mutating func nextLine() throws(JSONError) -> InputRecord? {
    while true {
      let newline = buffer[start...].firstIndex(of: UInt8(ascii: "\n"))
      guard let end = newline ?? (isAtEnd && start < buffer.count ? buffer.count : nil) else {
        try checkLength()
        return nil
      }
      let place = position
      var content = buffer[start..<end]
      if place.offset == 0, content.starts(with: Self.byteOrderMark) { content.removeFirst(Self.byteOrderMark.count) }
      position.offset += (newline == nil ? end : end + 1) - start
      position.line += 1
      start = newline == nil ? end : end + 1
      if content.allSatisfy(\.isSpace) { continue }
      return InputRecord(bytes: Array(content), place: place, start: place)
    }
  }

  static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

  func checkLength() throws(JSONError) {
    if buffer.count - start > Self.recordLimit {
      throw error("The document does not end within \(Self.recordLimit / 1024 / 1024) MiB.")
    }
  }

  // MARK: Elements

  private mutating func nextElement() throws(JSONError) -> InputRecord? {
    while true {
      skipSpace()
      guard let level = position.levels.last else {
        if position.isClosed {
          if start < buffer.count { throw error("Unexpected text after the end of the documents.") }
          return nil
        }
        if layout == .single || layout == .sequence { return try whole() }
        guard try open() else { return nil }
        continue
      }
      guard start < buffer.count else {
        guard isAtEnd else { return nil }
        throw error("Expected \(level.endText) after the documents, found the end of the file.")
      }
      if buffer[start] == level.end {
        advance(to: start + 1)
        close()
        continue
      }
      // Bytes are consumed only when the element is complete, so that a repeated call reports the same error.
      let (savedStart, savedPosition) = (start, position)
      do throws(JSONError) {
        switch try separatedElement() {
        case .record(let record): return record
        case .level, .nothing: continue
        case .incomplete: if isAtEnd { throw error("Expected a whole document, found the end of the file.") }
        }
      } catch {
        (start, position) = (savedStart, savedPosition)
        throw error
      }
      (start, position) = (savedStart, savedPosition)
      try checkLength()
      return nil
    }
  }

  private enum Element {
    case record(InputRecord)
    /// An inner array or object begins.
    case level
    /// An element without documents.
    case nothing
    case incomplete
  }

  private mutating func close() {
    position.levels.removeLast()
    if position.levels.isEmpty { position.isClosed = true } else { followElement() }
  }

  private mutating func followElement() { position.levels[position.levels.count - 1].followsElement = true }

  private mutating func separatedElement() throws(JSONError) -> Element {
    let level = position.levels[position.levels.count - 1]
    if level.followsElement {
      guard buffer[start] == UInt8(ascii: ",") else {
        throw error("Expected \",\" or \(level.endText) after a document.")
      }
      advance(to: start + 1)
      position.levels[position.levels.count - 1].followsElement = false
      skipSpace()
    }
    return try element(of: level.container)
  }

  /// Reads the beginning of the outermost array or object.
  /// - Returns: `false` if more bytes are needed.
  private mutating func open() throws(JSONError) -> Bool {
    skipByteOrderMark()
    guard start < buffer.count else {
      if isAtEnd { throw error("Expected an array or an object of documents, found the end of the file.") }
      return false
    }
    switch buffer[start] {
    case UInt8(ascii: "["): position.levels = [InputPosition.Level(container: .array)]
    case UInt8(ascii: "{"): position.levels = [InputPosition.Level(container: .object)]
    default: throw error("Expected \"[\" or \"{\" before the documents.")
    }
    advance(to: start + 1)
    return true
  }

  private mutating func skipByteOrderMark() {
    guard position.offset == 0, buffer.starts(with: Self.byteOrderMark) else { return }
    start += Self.byteOrderMark.count
    position.offset += Self.byteOrderMark.count
    skipSpace()
  }

  /// Reads the whole value as one document.
  private mutating func whole() throws(JSONError) -> InputRecord? {
    skipByteOrderMark()
    if layout == .sequence, start == buffer.count { return nil }
    guard start < buffer.count, let end = endOfValue() else {
      if isAtEnd { throw error("Expected a whole document, found the end of the file.") }
      try checkLength()
      return nil
    }
    let record = InputRecord(bytes: Array(buffer[start..<end]), place: position, start: position)
    advance(to: end)
    position.isClosed = layout == .single
    return record
  }

  private mutating func element(of container: InputPosition.Container) throws(JSONError) -> Element {
    guard start < buffer.count else { return .incomplete }
    let beginning = position
    var name: String?
    if container == .object {
      guard buffer[start] == UInt8(ascii: "\"") else { throw error("Expected a document's name in double quotes.") }
      guard let nameEnd = endOfValue() else { return .incomplete }
      name = String(decoding: buffer[start..<nameEnd], as: UTF8.self)
      advance(to: nameEnd)
      skipSpace()
      guard start < buffer.count else { return .incomplete }
      guard buffer[start] == UInt8(ascii: ":") else { throw error("Expected \":\" after the document's name.") }
      advance(to: start + 1)
      skipSpace()
      guard start < buffer.count else { return .incomplete }
    }
    let content = layout.content(of: name, in: position.levels)
    if content == .level {
      let isArray = buffer[start] == UInt8(ascii: "[")
      guard isArray || buffer[start] == UInt8(ascii: "{") else {
        throw error("Expected the documents of \(name ?? "a collection") in an object or an array.")
      }
      advance(to: start + 1)
      position.levels.append(InputPosition.Level(container: isArray ? .array : .object, name: name))
      return .level
    }
    guard let end = endOfValue() else { return .incomplete }
    if end == start { throw error("Expected a document.") }
    let record = InputRecord(
      name: name, collection: layout.hasCollections ? position.levels.last?.name : nil,
      bytes: Array(buffer[start..<end]),
      place: position, start: beginning)
    advance(to: end)
    followElement()
    return content == .document ? .record(record) : .nothing
  }

  /// The index after the value at `start`; `nil` if the value does not end in the buffer.
  private func endOfValue() -> Int? {
    var depth = 0
    var isInString = false
    var index = start
    return buffer.withUnsafeBufferPointer { bytes in
      while index < bytes.count {
        let byte = bytes[index]
        if isInString {
          if byte == UInt8(ascii: "\\") {
            index += 1
          } else if byte == UInt8(ascii: "\"") {
            isInString = false
            if depth == 0 { return index + 1 }
          }
        } else {
          switch byte {
          case UInt8(ascii: "\""): isInString = true
          case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
          case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth == 0 { return index }
            depth -= 1
            if depth == 0 { return index + 1 }
          case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
            if depth == 0 { return index }
          default: break
          }
        }
        index += 1
      }
      return nil
    }
  }

  private mutating func skipSpace() {
    var end = start
    while end < buffer.count, buffer[end].isSpace { end += 1 }
    advance(to: end)
  }

  /// Consumes bytes, and counts their lines and columns.
  private mutating func advance(to end: Int) {
    position.offset += end - start
    for byte in buffer[start..<end] {
      if byte == UInt8(ascii: "\n") {
        position.line += 1
        position.column = 1
      } else if byte & 0xc0 != 0x80 {
        position.column += 1
      }
    }
    start = end
  }

  private func error(_ reason: String) -> JSONError {
    JSONError(line: position.line, column: position.column, reason: reason)
  }
}

extension UInt8 {
  /// Whether the byte is white space in JSON.
  fileprivate var isSpace: Bool { self == 0x20 || self == 0x0a || self == 0x0d || self == 0x09 }
}

extension RecordSplitter {
  /// Returns the next row that is not empty. Quoted cells can contain line breaks.
  mutating func nextRow(_ delimiter: Delimiter) throws(JSONError) -> InputRecord? {
    while true {
      let newline = endOfRow(delimiter)
      guard let end = newline ?? (isAtEnd && start < buffer.count ? buffer.count : nil) else {
        try checkLength()
        return nil
      }
      let place = position
      var content = buffer[start..<end]
      if place.offset == 0, content.starts(with: Self.byteOrderMark) { content.removeFirst(Self.byteOrderMark.count) }
      if content.last == UInt8(ascii: "\r") { content.removeLast() }
      position.offset += (newline == nil ? end : end + 1) - start
      position.line += content.count(where: { $0 == UInt8(ascii: "\n") }) + 1
      start = newline == nil ? end : end + 1
      if content.isEmpty { continue }
      return InputRecord(bytes: Array(content), place: place, start: place)
    }
  }

  /// The index of the line feed that ends the row at `start`; `nil` if the row does not end in the buffer.
  private func endOfRow(_ delimiter: Delimiter) -> Int? {
    guard case .quoted(let sign) = delimiter else { return buffer[start...].firstIndex(of: UInt8(ascii: "\n")) }
    var isQuoted = false
    var beginsCell = true
    var index = start
    if position.offset == 0, buffer[start...].starts(with: Self.byteOrderMark) { index += Self.byteOrderMark.count }
    return buffer.withUnsafeBufferPointer { bytes in
      while index < bytes.count {
        let byte = bytes[index]
        if isQuoted {
          // Two quotes in a cell encode one quote: the first ends the quoted part, and the second reopens it.
          if byte == UInt8(ascii: "\"") { isQuoted = false }
          beginsCell = byte == UInt8(ascii: "\"")
        } else if byte == UInt8(ascii: "\n") {
          return index
        } else {
          isQuoted = byte == UInt8(ascii: "\"") && beginsCell
          beginsCell = byte == sign
        }
        index += 1
      }
      return nil
    }
  }
}
