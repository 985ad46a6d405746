// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
import FirestoreText

/// The text syntax of values for each type.
package enum FieldText {
  /// A text that `value(_:_:)` parses to the same value.
  package static func text(of value: Value, in database: DatabaseID) -> String {
    switch value {
    case .null, .serverTimestamp: ""
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): "\(number)"
    case .double(let number): text(of: number)
    case .timestamp(let time): time.rfc3339Text
    case .string(let text): text
    case .bytes(let bytes): Base64.encode(bytes)
    case .reference(let other, let key): other == database ? key.path.text : other.name(of: key)
    case .geoPoint(let point): "\(text(of: point.latitude)), \(text(of: point.longitude))"
    case .vector(let elements): DocumentJSON.line(of: Value.array(elements.map { .double($0) }))
    case .array, .map: DocumentJSON.line(of: value, relativeTo: database)
    }
  }

  private static func text(of number: Double) -> String {
    number.isNaN ? "NaN" : number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : number.description
  }

  /// - Parameter kind: the type of the value, or a transform whose operand is parsed.
  /// - Throws: the position of the error in the text, and the expected text.
  package static func value(_ text: String, _ kind: FieldKind, in database: DatabaseID) throws(FieldTextError) -> Value
  {
    switch kind {
    case .string: return .string(text)
    case .null, .serverTimestamp, .delete: return .null
    case .boolean: return try boolean(text)
    case .integer: return .integer(try integer(text))
    case .double: return .double(try double(text))
    case .increment, .maximum, .minimum: return try number(text)
    case .timestamp: return .timestamp(try timestamp(text))
    case .bytes: return .bytes(try bytes(text))
    case .reference: return try reference(text, in: database)
    case .geoPoint: return .geoPoint(try geoPoint(text))
    case .vector: return try vector(text, in: database)
    case .array, .arrayUnion, .arrayRemove:
      let value = try json(text, in: database, expects: "[")
      guard case .array = value else { throw FieldTextError("this is not an array: write it in [ ]") }
      return value
    case .map:
      let value = try json(text, in: database, expects: "{")
      guard case .map = value else {
        throw FieldTextError("this is a \(FieldKind(value).title), not a map: choose that type")
      }
      return value
    }
  }

  // MARK: Plain values

  private static func boolean(_ text: String) throws(FieldTextError) -> Value {
    switch text {
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    default:
      func shared(_ word: String) -> Int { zip(text, word).prefix { $0 == $1 }.count }
      throw FieldTextError("true or false is expected", at: max(shared("true"), shared("false")))
    }
  }

  private static func reference(_ text: String, in database: DatabaseID) throws(FieldTextError) -> Value {
    if let reference = Value(referenceName: text) {
      guard case .reference(let other, _) = reference, other != database else { return reference }
      throw FieldTextError("the reference is to another database, \(other.name); use a document of this database")
    }
    do throws(ModelError) { return .reference(database, try DocumentKey(validating: text)) } catch {
      let gap = text.ranges(of: "//").first.map { text.distance(from: text.startIndex, to: $0.lowerBound) + 1 }
      throw FieldTextError(error.message, at: gap ?? (text.hasPrefix("/") ? 0 : text.count))
    }
  }

  private static func geoPoint(_ text: String) throws(FieldTextError) -> GeoPoint {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw FieldTextError(
        "two numbers separated by a comma are expected: latitude, longitude",
        at: parts.count < 2 ? text.count : parts[0].count + parts[1].count + 1)
    }
    func degrees(_ part: Substring, at offset: Int, _ name: String, _ limit: Int) throws(FieldTextError) -> Double {
      let start = offset + part.prefix { $0 == " " }.count
      let word = String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      let number: Double
      do throws(FieldTextError) { number = try double(word) } catch {
        throw FieldTextError(error.reason, at: start + error.offset)
      }
      guard abs(number) <= Double(limit) else {
        throw FieldTextError("a \(name) must be between -\(limit) and \(limit) degrees", at: start)
      }
      return number
    }
    return GeoPoint(
      latitude: try degrees(parts[0], at: 0, "latitude", 90),
      longitude: try degrees(parts[1], at: parts[0].count + 1, "longitude", 180))
  }

  private static func bytes(_ text: String) throws(FieldTextError) -> [UInt8] {
    if text.hasPrefix("hex:") {
      let digits = text.dropFirst(4)
      if let index = digits.firstIndex(where: { !$0.isASCII || !$0.isHexDigit }) {
        throw FieldTextError(
          "a hexadecimal digit is expected, 0 to 9 or a to f",
          at: 4 + digits.distance(from: digits.startIndex, to: index))
      }
      guard let bytes = Hexadecimal.bytes(digits) else {
        throw FieldTextError("a byte has two digits; one is missing", at: text.count)
      }
      return bytes
    }
    let characters = Array(text)
    if let index = characters.firstIndex(where: { !isBase64($0) }) {
      throw FieldTextError("\(characters[index]) is not base64; for hexadecimal begin with hex:", at: index)
    }
    guard let bytes = Base64.decode(text) else {
      throw FieldTextError("base64 needs groups of four characters; fill the last one with =", at: characters.count)
    }
    return bytes
  }

  private static func isBase64(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "+/=".contains(character))
  }

  // MARK: JSON

  private static func vector(_ text: String, in database: DatabaseID) throws(FieldTextError) -> Value {
    guard text.hasPrefix("[") else { throw FieldTextError("[ is expected: a vector is an array of numbers") }
    // The text is parsed within a vector's JSON object. The prefix is subtracted from places.
    let prefix = "{\"$vector\": "
    do throws(JSONError) { return try DocumentJSON.parseValue(prefix + text + "}", database: database) } catch {
      let column = error.line == 1 ? error.column - prefix.unicodeScalars.count : error.column
      throw FieldTextError(
        error.reason, at: min(text.count, offset(of: error.line, column, in: text)))
    }
  }

  private static func json(_ text: String, in database: DatabaseID, expects start: String) throws(FieldTextError)
    -> Value
  {
    if text.isEmpty { throw FieldTextError("\(start) is expected: the value is written as JSON") }
    do throws(JSONError) { return try DocumentJSON.parseValue(text, database: database) } catch {
      throw FieldTextError(error.reason, at: offset(of: error.line, error.column, in: text))
    }
  }

  /// The count of characters before a position. The position is given by line and column, in Unicode scalars.
  private static func offset(of line: Int, _ column: Int, in text: String) -> Int {
    let scalars = text.unicodeScalars
    var index = scalars.startIndex
    for _ in 1..<max(1, line) {
      guard let end = scalars[index...].firstIndex(of: "\n") else { break }
      index = scalars.index(after: end)
    }
    let place = scalars.index(index, offsetBy: max(0, column - 1), limitedBy: scalars.endIndex) ?? scalars.endIndex
    return text[..<place].count
  }
}

/// The reason why a text is not a valid value of its type, with the position of the error.
package struct FieldTextError: Error, Hashable {
  /// The count of characters before the error.
  package var offset: Int
  package var reason: String

  package init(_ reason: String, at offset: Int = 0) {
    self.offset = offset
    self.reason = reason
  }

  /// The message `column 4: …`, with the line number if the text has several lines.
  package func message(in text: String) -> String {
    let before = text.prefix(offset)
    let line = before.count { $0.isNewline } + 1
    let column =
      before.count
      - (before.lastIndex { $0.isNewline }.map { before.distance(from: before.startIndex, to: $0) + 1 } ?? 0) + 1
    return (text.contains { $0.isNewline } ? "line \(line), " : "") + "column \(column): \(reason)"
  }
}

/// Numbers and times. They are parsed character by character, so that errors report the first invalid character.
extension FieldText {
  static func integer(_ text: String) throws(FieldTextError) -> Int64 {
    let characters = Array(text)
    let start = characters.first.map { "+-".contains($0) } == true ? 1 : 0
    guard start < characters.count else { throw FieldTextError("a digit is expected", at: start) }
    for (index, character) in characters.enumerated().dropFirst(start) where !isDigit(character) {
      throw FieldTextError(
        character == "." ? "an integer has no decimal point; a double does" : "an integer has digits only", at: index)
    }
    guard let number = Int64(text) else {
      throw FieldTextError("an integer has 64 bits: it must be between \(Int64.min) and \(Int64.max)")
    }
    return number
  }

  static func double(_ text: String) throws(FieldTextError) -> Double {
    switch text.lowercased() {
    case "nan": return .nan
    case "inf", "+inf", "infinity", "+infinity": return .infinity
    case "-inf", "-infinity": return -.infinity
    default: break
    }
    var scanner = CharacterScanner(text)
    _ = scanner.take { "+-".contains($0) }
    var count = scanner.skip(while: isDigit)
    if scanner.take({ $0 == "." }) { count += scanner.skip(while: isDigit) }
    guard count > 0 else { throw FieldTextError("a number is expected, NaN, inf or -inf", at: scanner.offset) }
    if scanner.take({ "eE".contains($0) }) {
      _ = scanner.take { "+-".contains($0) }
      guard scanner.skip(while: isDigit) > 0 else {
        throw FieldTextError("a digit of the exponent is expected", at: scanner.offset)
      }
    }
    guard scanner.isAtEnd else { throw FieldTextError("a digit is expected", at: scanner.offset) }
    guard let number = Double(text), number.isFinite else {
      throw FieldTextError("the number is beyond the largest double, \(Double.greatestFiniteMagnitude)")
    }
    return number
  }

  /// Parses an integer, or a double if the text has a point or an exponent.
  package static func number(_ text: String) throws(FieldTextError) -> Value {
    if let number = Int64(text) { return .integer(number) }
    let digits = text.drop { "+-".contains($0) }
    if !digits.isEmpty, digits.allSatisfy(isDigit) { return .integer(try integer(text)) }
    return .double(try double(text))
  }

  package static func timestamp(_ text: String) throws(FieldTextError) -> Timestamp {
    let example = "as in 2026-03-02T11:58:03Z"
    let characters = Array(text)
    for (index, wanted) in "dddd-dd-ddTdd:dd:dd".enumerated() {
      guard index < characters.count else {
        throw FieldTextError("the time is incomplete, \(example)", at: characters.count)
      }
      let isRight = wanted == "d" ? isDigit(characters[index]) : characters[index].uppercased() == String(wanted)
      guard isRight else {
        let name = wanted == "d" ? "a digit" : "\(wanted)"
        throw FieldTextError("\(name) is expected, \(example)", at: index)
      }
    }
    if let time = Timestamp(rfc3339: text) { return time }
    func number(_ range: Range<Int>) -> Int { Int(String(characters[range])) ?? 0 }
    if number(0..<4) == 0 { throw FieldTextError("years begin with 0001") }
    if !(1...12).contains(number(5..<7)) { throw FieldTextError("there is no such month", at: 5) }
    if Timestamp(rfc3339: String(characters[..<10]) + "T00:00:00Z") == nil {
      throw FieldTextError("the month has no such day", at: 8)
    }
    if number(11..<13) > 23 { throw FieldTextError("hours go to 23", at: 11) }
    if number(14..<16) > 59 { throw FieldTextError("minutes go to 59", at: 14) }
    if number(17..<19) > 59 { throw FieldTextError("seconds go to 59", at: 17) }
    var scanner = CharacterScanner(text, from: 19)
    if scanner.take({ $0 == "." }) {
      let digits = scanner.skip(while: isDigit)
      guard digits > 0 else { throw FieldTextError("a digit of the fraction is expected", at: scanner.offset) }
      guard digits <= 9 else { throw FieldTextError("a fraction ends at nanoseconds: nine digits", at: 29) }
    }
    throw FieldTextError("Z or an offset such as +01:00 is expected", at: scanner.offset)
  }

  private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
}

/// Scans a text and counts characters.
private struct CharacterScanner {
  private let characters: [Character]
  private(set) var offset: Int

  init(_ text: String, from offset: Int = 0) {
    characters = Array(text)
    self.offset = offset
  }

  var isAtEnd: Bool { offset >= characters.count }

  mutating func take(_ isWanted: (Character) -> Bool) -> Bool {
    guard offset < characters.count, isWanted(characters[offset]) else { return false }
    offset += 1
    return true
  }

  /// - Returns: the count of skipped characters.
  mutating func skip(while isWanted: (Character) -> Bool) -> Int {
    let start = offset
    while take(isWanted) {}
    return offset - start
  }
}

extension FieldText {
  /// Parses a text for which no type was chosen, as in `hearth set`. Numbers, `true`, `false`, `null`, times, JSON and
  /// texts with a type prefix have a special meaning. Any other text is a string. Quoted text is always a string.
  package static func value(_ text: String, in database: DatabaseID) throws(FieldTextError) -> Value {
    guard let first = text.unicodeScalars.first else { return .string("") }
    do throws(TextError) {
      let value = try ValueReader(database: database).value(of: text)
      // An unquoted string keeps its surrounding blanks.
      if case .string = value, first != "\"", first != "'", !isTyped(text) { return .string(text) }
      return value
    } catch {
      guard !"{[\"'".unicodeScalars.contains(first), !isTyped(text), PlainText.otherMeaning(ofWritten: text) == nil
      else { throw FieldTextError(error.reason, at: min(text.count, max(0, (error.column ?? 1) - 1))) }
      return .string(text)
    }
  }

  /// Whether the text starts with a type prefix, as in `string:42`.
  private static func isTyped(_ text: String) -> Bool {
    do throws(TextError) { return try TypedLiteral.syntax(text, column: 1) != nil } catch { return true }
  }
}
