// SPDX-License-Identifier: Apache-2.0

/// Encodes numbers, texts and bytes so that the encodings, compared byte by byte, have the same order as the values.
/// The SDKs use this encoding for index entries (VALUE-ORDER "Index encodings", JavaScript's numbers). The encoding
/// sorts NaN last and -0.0 before 0.0. To obtain Firestore's order, callers encode NaN separately and write -0.0 as
/// 0.0.
package struct OrderedCode: Sendable {
  package private(set) var bytes: [UInt8] = []
  /// Whether to complement every byte that is appended from now on, which reverses the order of the encoded values.
  package var isDescending: Bool

  package init(isDescending: Bool = false) { self.isDescending = isDescending }

  /// Appends the number's byte count, followed by its bytes without leading zeros. Before that, the bits are changed so
  /// that they sort like an unsigned number.
  package mutating func append(_ number: Double) {
    let sign: UInt64 = 1 << 63
    let bits = number.bitPattern
    let ordered = bits & sign != 0 ? ~bits : bits | sign
    let count = 8 - ordered.leadingZeroBitCount / 8
    append(byte: UInt8(count))
    for index in (0..<count).reversed() { append(byte: UInt8(truncatingIfNeeded: ordered >> UInt64(8 * index))) }
  }

  package mutating func append(_ text: String) { append(text.utf8) }

  /// Appends bytes and an end marker. The byte values 00 and FF are escaped, so that the end marker (00 01) sorts before
  /// any further content.
  package mutating func append(_ content: some Sequence<UInt8>) {
    for byte in content {
      append(byte: byte)
      if byte == 0x00 { append(byte: 0xff) }
      if byte == 0xff { append(byte: 0x00) }
    }
    append(byte: 0x00)
    append(byte: 0x01)
  }

  /// Appends a marker that sorts after everything else. It ends an entry that is only a prefix.
  package mutating func appendInfinity() {
    append(byte: 0xff)
    append(byte: 0xff)
  }

  @inline(__always)
  mutating func append(byte: UInt8) { bytes.append(isDescending ? ~byte : byte) }

  /// Removes all bytes except the first `count`.
  package mutating func cut(to count: Int) {
    if bytes.count > count { bytes.removeSubrange(count...) }
  }
}

/// Encodes values of every type so that the encodings, compared byte by byte, have the order of `Value.compare`. Values
/// that compare as equal have equal encodings. No encoding is a prefix of another one, so encodings can be
/// concatenated. The first byte is never 0x00 or 0xFF. Numbers are encoded exactly, whereas the SDKs round integers to
/// doubles.
extension OrderedCode {
  /// The first byte in the encodings of all values of a type. It differs for each type.
  package static func rank(of value: Value) -> UInt8 { rank(value.typeRank) }

  private static func rank(_ typeRank: Int) -> UInt8 { UInt8(truncatingIfNeeded: (typeRank + 2) << 3) }

  /// The end marker of an array or map, which sorts before every further element.
  private static let endOfList: UInt8 = 0x01

  package mutating func append(_ value: Value) {
    let bson = value.bson
    append(byte: Self.rank(bson?.typeRank ?? value.typeRank))
    if let bson { return append(bson) }
    switch value {
    case .null: break
    case .boolean(let flag): append(byte: flag ? 1 : 0)
    case .integer(let number): append(exactly: number)
    case .double(let number): append(exactly: number)
    case .timestamp(let time): append(time)
    case .serverTimestamp(let time): append(time.localWriteTime)
    case .string(let text): append(text)
    case .bytes(let content): append(content)
    case .reference(let database, let key):
      append(database.project)
      append(database.database)
      for segment in key.path.text.split(separator: "/") { append(segment.utf8) }
      appendEndOfTexts()
    case .geoPoint(let point):
      append(sortable: point.latitude)
      append(sortable: point.longitude)
    case .array(let elements):
      for element in elements { append(element) }
      append(byte: Self.endOfList)
    case .vector(let elements):
      append(bigEndian: UInt64(elements.count))
      for element in elements { append(sortable: element) }
    case .map(let fields):
      for entry in fields.entries {
        append(entry.name)
        append(entry.value)
      }
      appendEndOfTexts()
    }
  }

  /// Appends a value that is already encoded as protobuf, with the same result as `append(_: Value)`.
  /// - Returns: whether the bytes were well formed. If not, the appended bytes must not be used.
  package mutating func append(_ view: EncodedValueView) -> Bool {
    var reader = WireReader(view.bytes)
    guard let tag = try? reader.tag() else { return false }
    switch tag.field {
    case 17:
      guard let text = try? reader.lengthDelimited() else { return false }
      append(byte: Self.rank(10))
      append(text)
    case 2:
      guard let number = try? reader.integer() else { return false }
      append(byte: Self.rank(4))
      append(exactly: number)
    case 3:
      guard let number = try? reader.double() else { return false }
      append(byte: Self.rank(4))
      append(exactly: number)
    case 10:
      guard let time = try? reader.timestamp() else { return false }
      append(byte: Self.rank(6))
      append(time)
    default:
      guard let value = view.decoded() else { return false }
      append(value)
    }
    return true
  }

  /// Appends the content of a BSON value, after its rank.
  private mutating func append(_ value: BSONValue) {
    switch value {
    case .number(.integer(let number)): append(exactly: number)
    case .number(.double(let number)): append(exactly: number)
    default: for part in value.parts { append(part) }
    }
  }

  // MARK: Numbers

  private mutating func append(exactly number: Double) {
    append(sortable: number)
    append(remainder: 0)
  }

  /// Appends the greatest double that is not greater than the number, followed by the difference. The difference is
  /// less than 1024, because doubles in this range are at most 1024 apart.
  private mutating func append(exactly number: Int64) {
    var floor = Double(number)
    // The conversion may round up, near the end of the range even beyond it.
    if floor >= 0x1p63 || Int64(floor) > number { floor = floor.nextDown }
    append(sortable: floor)
    append(remainder: number - Int64(floor))
  }

  /// Appends a double so that NaN sorts first and 0.0 and -0.0 are equal.
  private mutating func append(sortable number: Double) {
    if number.isNaN { return append(bigEndian: 0) }
    let bits = (number == 0 ? 0.0 : number).bitPattern
    let sign: UInt64 = 1 << 63
    append(bigEndian: bits & sign != 0 ? ~bits : bits | sign)
  }

  private mutating func append(remainder: Int64) {
    append(byte: UInt8(truncatingIfNeeded: remainder >> 8))
    append(byte: UInt8(truncatingIfNeeded: remainder))
  }

  private mutating func append(_ time: Timestamp) {
    append(bigEndian: UInt64(bitPattern: time.seconds) ^ 1 << 63)
    let nanoseconds = UInt32(bitPattern: time.nanoseconds)
    for shift in [24, 16, 8, 0] as [UInt32] { append(byte: UInt8(truncatingIfNeeded: nanoseconds >> shift)) }
  }

  private mutating func append(bigEndian number: UInt64) {
    var shift: UInt64 = 64
    while shift > 0 {
      shift -= 8
      append(byte: UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// Appends the end marker of texts, which sorts before every text.
  private mutating func appendEndOfTexts() {
    append(byte: 0x00)
    append(byte: 0x00)
  }
}
