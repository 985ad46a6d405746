// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Numbers and times: read character by character, so that the first wrong one can be named.
extension FieldText {
  static func integer(_ text: String) throws(FieldTextError) -> Int64 {
    let characters = Array(text)
    let start = characters.first.map { "+-".contains($0) } == true ? 1 : 0
    guard start < characters.count else { throw FieldTextError("a digit is expected", at: start) }
    for (index, character) in characters.enumerated().dropFirst(start) where !isDigit(character) {
      throw FieldTextError(
        character == "." ? "an integer has no point; a double has" : "an integer has digits only", at: index)
    }
    guard let number = Int64(text) else {
      throw FieldTextError("an integer has 64 bits: it lies between \(Int64.min) and \(Int64.max)")
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
      throw FieldTextError("it is beyond the largest double, \(Double.greatestFiniteMagnitude)")
    }
    return number
  }

  /// An integer, or with a point or exponent a double.
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
      guard index < characters.count else { throw FieldTextError("more is expected, \(example)", at: characters.count) }
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

/// Goes through a text, counting.
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

  /// - Returns: how many there were.
  mutating func skip(while isWanted: (Character) -> Bool) -> Int {
    let start = offset
    while take(isWanted) {}
    return offset - start
  }
}
