// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Parses JSON (RFC 8259) by recursive descent over UTF-8 bytes.
struct JSONParser {
  /// The maximum nesting depth. Documents have up to 20 levels, and `$` objects add a few more.
  static let depthLimit = 100

  private let bytes: [UInt8]
  private let numbers: JSONSyntax.Numbers
  /// Whether comments, and commas before closing brackets, are allowed.
  private let isCommented: Bool
  /// The first comma before a closing bracket, as an error; `nil` if there is no such comma.
  private(set) var trailingComma: JSONError?
  private var position = 0
  private var line = 1
  /// The start of the current line.
  private var lineStart = 0
  /// The number of UTF-8 continuation bytes in the current line. They are not counted as columns.
  private var continuationBytes = 0

  init(_ text: String, _ numbers: JSONSyntax.Numbers = .exact, isCommented: Bool = false) {
    bytes = Array(text.utf8)
    self.numbers = numbers
    self.isCommented = isCommented
    // Skips the byte order mark that editors on Windows write.
    if isCommented, bytes.starts(with: [0xef, 0xbb, 0xbf]) { (position, lineStart) = (3, 3) }
  }

  mutating func document() throws(JSONError) -> JSONSyntax {
    let value = try value(depth: 0)
    skipWhitespace()
    if position < bytes.count { throw error("Expected nothing more after the value, found \(found).") }
    return value
  }

  // MARK: Values

  private mutating func value(depth: Int) throws(JSONError) -> JSONSyntax {
    skipWhitespace()
    if depth > Self.depthLimit { throw error("The value is nested more than \(Self.depthLimit) levels deep.") }
    var syntax = JSONSyntax(.null, line: line, column: column)
    switch current {
    case UInt8(ascii: "{"): syntax.kind = .object(try members(depth: depth + 1))
    case UInt8(ascii: "["): syntax.kind = .array(try elements(depth: depth + 1))
    case UInt8(ascii: "\""): syntax.kind = .string(try string())
    case UInt8(ascii: "t"): syntax.kind = try keyword("true", .boolean(true))
    case UInt8(ascii: "f"): syntax.kind = try keyword("false", .boolean(false))
    case UInt8(ascii: "n"): syntax.kind = try keyword("null", .null)
    case let byte? where byte == UInt8(ascii: "-") || byte.isDigit: syntax.kind = try number()
    default: throw error("Expected a value, found \(found).")
    }
    return syntax
  }

  private mutating func members(depth: Int) throws(JSONError) -> [JSONSyntax.Member] {
    position += 1
    var members: [JSONSyntax.Member] = []
    var places: [(line: Int, column: Int)] = []
    skipWhitespace()
    if take(UInt8(ascii: "}")) { return [] }
    while true {
      skipWhitespace()
      if takeAfterComma(UInt8(ascii: "}")) { break }
      guard current == UInt8(ascii: "\"") else { throw error("Expected a name in double quotes, found \(found).") }
      places.append((line, column))
      let name = try string()
      skipWhitespace()
      guard take(UInt8(ascii: ":")) else { throw error("Expected \":\" after the name \"\(name)\", found \(found).") }
      members.append(JSONSyntax.Member(name, try value(depth: depth)))
      skipWhitespace()
      if take(UInt8(ascii: "}")) { break }
      guard take(UInt8(ascii: ",")) else { throw error("Expected \",\" or \"}\", found \(found).") }
    }
    try refuseDuplicates(members, places)
    return members
  }

  /// The largest object, by member count, for which each name is compared with all earlier names.
  private static let few = 16

  /// Rejects duplicate names. In large objects, sorts the names by bytes instead of hashing them, because two names are
  /// duplicates only if their bytes are equal.
  private func refuseDuplicates(
    _ members: [JSONSyntax.Member], _ places: [(line: Int, column: Int)]
  ) throws(JSONError) {
    func refusal(_ index: Int) -> JSONError {
      JSONError(
        line: places[index].line, column: places[index].column,
        reason: "The name \"\(members[index].name)\" is already used in this object.")
    }
    if members.count <= Self.few {
      for second in members.indices.dropFirst() {
        for first in 0..<second where members[first].name.equalsUTF8(members[second].name) { throw refusal(second) }
      }
      return
    }
    let sorted = members.indices.sorted { left, right in
      members[left].name.compareUTF8(members[right].name).then(Ordering(left, right)) == .ascending
    }
    for (first, second) in zip(sorted, sorted.dropFirst())
    where members[first].name.equalsUTF8(members[second].name) { throw refusal(second) }
  }

  private mutating func elements(depth: Int) throws(JSONError) -> [JSONSyntax] {
    position += 1
    var elements: [JSONSyntax] = []
    skipWhitespace()
    if take(UInt8(ascii: "]")) { return [] }
    while true {
      skipWhitespace()
      if takeAfterComma(UInt8(ascii: "]")) { return elements }
      elements.append(try value(depth: depth))
      skipWhitespace()
      if take(UInt8(ascii: "]")) { return elements }
      guard take(UInt8(ascii: ",")) else { throw error("Expected \",\" or \"]\", found \(found).") }
    }
  }

  private mutating func keyword(_ word: String, _ kind: JSONSyntax.Kind) throws(JSONError) -> JSONSyntax.Kind {
    guard bytes[position...].starts(with: word.utf8) else { throw error("Expected a value, found \(found).") }
    position += word.utf8.count
    if let next = current, next.isLetter {
      position -= word.utf8.count
      throw error("Expected a value, found \(found).")
    }
    return kind
  }

  // MARK: Numbers

  private mutating func number() throws(JSONError) -> JSONSyntax.Kind {
    let start = position
    let here = error("")
    func fail(_ reason: String) -> JSONError { JSONError(line: here.line, column: here.column, reason: reason) }

    _ = take(UInt8(ascii: "-"))
    let integerStart = position
    takeDigits()
    if position == integerStart { throw error("Expected a digit after \"-\", found \(found).") }
    if bytes[integerStart] == UInt8(ascii: "0"), position - integerStart > 1 {
      throw fail("A number must not begin with 0.")
    }
    var isInteger = true
    if take(UInt8(ascii: ".")) {
      isInteger = false
      try takeDigits(after: ".")
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isInteger = false
      _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
      try takeDigits(after: "the exponent's sign")
    }
    if let next = current, next.isLetter { throw error("Expected the number to end here, found \(found).") }

    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger {
      // An integer zero has no sign.
      if let integer = Int64(text), numbers == .exact || text != "-0" { return .integer(integer) }
      if numbers == .exact {
        throw fail("The integer \(text) does not fit into 64 bits. Write \(text).0 for a double.")
      }
    }
    guard let double = Double(text), double.isFinite else {
      throw fail("The number \(text) is too large for a double.")
    }
    return .double(double)
  }

  private mutating func takeDigits() {
    while let byte = current, byte.isDigit { position += 1 }
  }

  private mutating func takeDigits(after what: String) throws(JSONError) {
    let start = position
    takeDigits()
    if position == start { throw error("Expected a digit after \(what == "." ? "\".\"" : what), found \(found).") }
  }

  // MARK: Strings

  private mutating func string() throws(JSONError) -> String {
    position += 1
    var start = takePlain()
    if take(UInt8(ascii: "\"")) { return String(decoding: bytes[start..<position - 1], as: UTF8.self) }
    var content = Array(bytes[start..<position])
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return String(decoding: content, as: UTF8.self)
      case UInt8(ascii: "\\"): try escape(into: &content)
      case 0..<0x20:
        throw error("A control character in a string must be written as an escape, such as \\n or \\u0007.")
      default:
        start = takePlain()
        content += bytes[start..<position]
      }
    }
    throw error("Expected a closing quote, found the end of the text.")
  }

  /// Skips the bytes of a string that are not escaped.
  /// - Returns: the position of the first skipped byte.
  private mutating func takePlain() -> Int {
    let start = position
    let (end, continuations) = bytes.withUnsafeBufferPointer { bytes in
      var (end, continuations) = (start, 0)
      while end < bytes.count {
        let byte = bytes[end]
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
        if byte & 0xc0 == 0x80 { continuations += 1 }
        end += 1
      }
      return (end, continuations)
    }
    position = end
    continuationBytes += continuations
    return start
  }

  private mutating func escape(into content: inout [UInt8]) throws(JSONError) {
    let here = error("")
    position += 1
    guard let byte = current else { throw error("Expected an escape after \"\\\", found the end of the text.") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0c)
    case UInt8(ascii: "n"): content.append(0x0a)
    case UInt8(ascii: "r"): content.append(0x0d)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "u"): content.append(contentsOf: try escapedScalar(at: here))
    default:
      position = position - 1
      throw JSONError(
        line: here.line, column: here.column,
        reason: "\"\\\" must be followed by one of \" \\ / b f n r t u.")
    }
  }

  /// The UTF-8 bytes that an escape `\uXXXX` represents, or that two escapes forming a surrogate pair represent. The
  /// caller has already read the first `\u`.
  private mutating func escapedScalar(at here: JSONError) throws(JSONError) -> String.UTF8View {
    func unpaired() -> JSONError {
      JSONError(
        line: here.line, column: here.column,
        reason: "The escape is half of a surrogate pair; the other half is missing.")
    }

    var code = UInt32(try fourHexDigits())
    if 0xd800...0xdbff ~= code {
      guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw unpaired() }
      let low = UInt32(try fourHexDigits())
      guard 0xdc00...0xdfff ~= low else { throw unpaired() }
      code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw unpaired() }
    return String(scalar).utf8
  }

  private mutating func fourHexDigits() throws(JSONError) -> UInt16 {
    var code: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("Expected four hexadecimal digits after \"\\u\", found \(found).")
      }
      code = code << 4 | UInt16(digit)
      position += 1
    }
    return code
  }

  // MARK: Position

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private var column: Int { position - lineStart - continuationBytes + 1 }

  private func error(_ reason: String) -> JSONError { JSONError(line: line, column: column, reason: reason) }

  /// A description of the text at the current position, for error messages.
  private var found: String {
    guard let byte = current else { return "the end of the text" }
    if byte.isLetter {
      let word = bytes[position...].prefix { $0.isLetter }.prefix(20)
      return "\"\(String(decoding: word, as: UTF8.self))\""
    }
    if byte < 0x20 { return "a control character" }
    let scalar = String(decoding: bytes[position...].prefix(4), as: UTF8.self).unicodeScalars.first ?? "?"
    return "\"\(scalar)\""
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard current == byte else { return false }
    position += 1
    return true
  }

  /// Skips a closing bracket that follows a comma, if comments are allowed.
  private mutating func takeAfterComma(_ bracket: UInt8) -> Bool {
    guard isCommented, current == bracket else { return false }
    let sign = bracket == UInt8(ascii: "}") ? "}" : "]"
    if trailingComma == nil { trailingComma = error("A comma precedes \"\(sign)\".") }
    return take(bracket)
  }

  /// Skips whitespace, and comments if they are allowed. A line ends with a line feed or with a carriage return and a
  /// line feed.
  private mutating func skipWhitespace() {
    while let byte = current {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): position += 1
      case UInt8(ascii: "\n"): takeLineFeed()
      case UInt8(ascii: "/") where isCommented: if !skipComment() { return }
      default: return
      }
    }
  }

  private mutating func takeLineFeed() {
    position += 1
    line += 1
    lineStart = position
    continuationBytes = 0
  }

  /// Skips a comment.
  /// - Returns: whether there was a complete comment. If not, the position is unchanged.
  private mutating func skipComment() -> Bool {
    let rest = bytes[(position + 1)...]
    guard let second = rest.first else { return false }
    switch second {
    case UInt8(ascii: "/"): while let byte = current, byte != UInt8(ascii: "\n") { passComment(byte) }
    case UInt8(ascii: "*"):
      var end = position + 2
      while end + 1 < bytes.count, bytes[end] != UInt8(ascii: "*") || bytes[end + 1] != UInt8(ascii: "/") { end += 1 }
      guard end + 1 < bytes.count else { return false }
      while position < end + 2 { passComment(bytes[position]) }
    default: return false
    }
    return true
  }

  private mutating func passComment(_ byte: UInt8) {
    if byte == UInt8(ascii: "\n") { return takeLineFeed() }
    if byte & 0xc0 == 0x80 { continuationBytes += 1 }
    position += 1
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  fileprivate var isLetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
  }
}
