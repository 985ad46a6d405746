// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel

/// The texts that users type for values, type by type.
package enum FieldText {
  /// The text that `value(_:_:)` reads back as the same value.
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

  /// - Parameter kind: the type of the value, or a transform, whose operand is read.
  /// - Throws: the place of the error in the text, and the text expected there.
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
      guard case .array = value else { throw FieldTextError("this is no array, which is written in [ ]") }
      return value
    case .map:
      let value = try json(text, in: database, expects: "{")
      guard case .map = value else {
        throw FieldTextError("this is a \(FieldKind(value).title), not a map; it has a type of its own")
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
      throw FieldTextError("it leads into another database, \(other.name); a write can only refer to this one's")
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
        "two numbers with a comma between are expected: latitude, longitude",
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
        throw FieldTextError("a \(name) lies between -\(limit) and \(limit) degrees", at: start)
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
      throw FieldTextError("\(characters[index]) is not of base64, and hex:… begins hexadecimal", at: index)
    }
    guard let bytes = Base64.decode(text) else {
      throw FieldTextError("base64 comes in groups of four, the last filled up with =", at: characters.count)
    }
    return bytes
  }

  private static func isBase64(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "+/=".contains(character))
  }

  // MARK: JSON

  private static func vector(_ text: String, in database: DatabaseID) throws(FieldTextError) -> Value {
    guard text.hasPrefix("[") else { throw FieldTextError("[ is expected: a vector is an array of numbers") }
    // The text is read as the object that stands for a vector in a document, so that places are those of its numbers.
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
    if text.isEmpty { throw FieldTextError("\(start) is expected: it is written as JSON") }
    do throws(JSONError) { return try DocumentJSON.parseValue(text, database: database) } catch {
      throw FieldTextError(error.reason, at: offset(of: error.line, error.column, in: text))
    }
  }

  /// The number of characters before a place given by line and column, in scalars.
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

/// The reason why a text is no value of its type, with the place.
package struct FieldTextError: Error, Hashable {
  /// The number of characters before the error.
  package var offset: Int
  package var reason: String

  package init(_ reason: String, at offset: Int = 0) {
    self.offset = offset
    self.reason = reason
  }

  /// The message `column 4: …`; with the line number in a text of several lines.
  package func message(in text: String) -> String {
    let before = text.prefix(offset)
    let line = before.count { $0.isNewline } + 1
    let column =
      before.count
      - (before.lastIndex { $0.isNewline }.map { before.distance(from: before.startIndex, to: $0) + 1 } ?? 0) + 1
    return (text.contains { $0.isNewline } ? "line \(line), " : "") + "column \(column): \(reason)"
  }
}
