// SPDX-License-Identifier: Apache-2.0

/// Checks whether bytes are exactly what `WireWriter` would write, so that they can be stored without being decoded and
/// encoded again.
///
/// All other bytes, including malformed ones, are rejected and must be read by `WireReader`. Accepted bytes are well
/// formed, and decoding and re-encoding them would produce the same bytes.
struct CanonicalScan {
  let bytes: UnsafeRawBufferPointer
  /// Whether to accept only content that is valid in a commit and that the commit would store unchanged. Names,
  /// nesting, timestamps and locations must be within Firestore's limits, and timestamps must be whole microseconds.
  /// The caller checks sizes.
  private let isStrict: Bool

  init(_ bytes: UnsafeRawBufferPointer, isStrict: Bool = false) { (self.bytes, self.isStrict) = (bytes, isStrict) }

  /// The name in the map entry that occupies `range`; `nil` if the entry is not canonical.
  func name(ofEntry range: Range<Int>, depth: Int = 0) -> Range<Int>? {
    guard let name = field(0x0a, at: range.lowerBound, before: range.upperBound), isText(name),
      let value = field(0x12, at: name.upperBound, before: range.upperBound), value.upperBound == range.upperBound,
      isValue(value, depth: depth), !isStrict || isOrdinary(name)
    else { return nil }
    return name
  }

  /// Whether the name is certainly valid in a commit. False for all names that begin with an underscore, although some
  /// of them are valid.
  private func isOrdinary(_ name: Range<Int>) -> Bool {
    !name.isEmpty && name.count <= FieldPath.byteLimit && bytes[name.lowerBound] != UInt8(ascii: "_")
  }

  /// Whether the first name sorts before the second by bytes.
  @inline(__always)
  func isAscending(_ first: Range<Int>, _ second: Range<Int>) -> Bool {
    var left = first.lowerBound
    var right = second.lowerBound
    while left < first.upperBound, right < second.upperBound {
      if bytes[left] != bytes[right] { return bytes[left] < bytes[right] }
      left += 1
      right += 1
    }
    return first.count < second.count
  }

  /// The content of the length-delimited field at a position; `nil` if the field does not have this one-byte tag.
  @inline(__always)
  func field(_ tag: UInt8, at position: Int, before end: Int) -> Range<Int>? {
    guard position < end, bytes[position] == tag else { return nil }
    return content(at: position + 1, before: end)
  }

  /// The bytes that follow a length. The length must have the shortest encoding.
  @inline(__always)
  private func content(at position: Int, before end: Int) -> Range<Int>? {
    guard position < end else { return nil }
    var length = Int(bytes[position])
    var start = position + 1
    if length >= 0x80 {
      guard let (long, next) = number(at: position, before: end), long < 1 << 31 else { return nil }
      length = Int(long)
      start = next
    }
    guard length <= end - start else { return nil }
    return start..<(start + length)
  }

  /// A number and the position after it. The number must have the shortest encoding.
  private func number(at position: Int, before end: Int) -> (value: UInt64, next: Int)? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    var position = position
    while position < end {
      let byte = bytes[position]
      position += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 {
        // Rejects a last byte of zero, which is redundant, and a tenth byte with more than one bit.
        if shift > 0, byte == 0 { return nil }
        return shift == 63 && byte > 1 ? nil : (value, position)
      }
      shift += 7
      if shift > 63 { return nil }
    }
    return nil
  }

  // MARK: Values

  private func isValue(_ range: Range<Int>, depth: Int) -> Bool {
    let (start, end) = (range.lowerBound, range.upperBound)
    guard start + 1 < end, depth <= (isStrict ? WriteLimit.depth : WireReader.maximumDepth) else { return false }
    // Only containers count against the limit.
    if isStrict, depth == WriteLimit.depth, bytes[start] == 0x4a || bytes[start] == 0x32 { return false }
    switch bytes[start] {
    case 0x58: return end == start + 2 && bytes[start + 1] == 0
    case 0x08: return end == start + 2 && bytes[start + 1] <= 1
    case 0x10: return number(at: start + 1, before: end)?.next == end
    case 0x19: return end == start + 9 && isDouble(at: start + 1)
    case 0x52: return filling(content(at: start + 1, before: end), end).map(isTimestamp) ?? false
    case 0x8a:
      guard bytes[start + 1] == 1 else { return false }
      return filling(content(at: start + 2, before: end), end).map(isText) ?? false
    case 0x92: return bytes[start + 1] == 1 && filling(content(at: start + 2, before: end), end) != nil
    case 0x2a: return filling(content(at: start + 1, before: end), end).map(isReference) ?? false
    case 0x42: return filling(content(at: start + 1, before: end), end).map(isGeoPoint) ?? false
    case 0x4a: return filling(content(at: start + 1, before: end), end).map { isArray($0, depth: depth) } ?? false
    case 0x32: return filling(content(at: start + 1, before: end), end).map { isMap($0, depth: depth) } ?? false
    default: return false
    }
  }

  @inline(__always)
  private func filling(_ range: Range<Int>?, _ end: Int) -> Range<Int>? { range?.upperBound == end ? range : nil }

  private func isDouble(at position: Int) -> Bool {
    let bits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    return Double(bitPattern: bits).identityBits == bits
  }

  private func isText(_ range: Range<Int>) -> Bool {
    var position = range.lowerBound
    while position + 8 <= range.upperBound,
      bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
    {
      position += 8
    }
    while position < range.upperBound, bytes[position] < 0x80 { position += 1 }
    if position == range.upperBound { return true }
    return String(validating: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self) != nil
  }

  private func isTimestamp(_ range: Range<Int>) -> Bool {
    var position = range.lowerBound
    if position < range.upperBound, bytes[position] == 0x08 {
      guard let (seconds, next) = number(at: position + 1, before: range.upperBound), seconds != 0 else { return false }
      let known = Timestamp.earliest.seconds...Timestamp.latest.seconds
      if isStrict, !known.contains(Int64(bitPattern: seconds)) { return false }
      position = next
    }
    if position < range.upperBound, bytes[position] == 0x10 {
      guard let (nanoseconds, next) = number(at: position + 1, before: range.upperBound),
        (1..<1_000_000_000).contains(nanoseconds), !isStrict || nanoseconds % 1000 == 0
      else { return false }
      position = next
    }
    return position == range.upperBound
  }

  private func isReference(_ range: Range<Int>) -> Bool {
    guard isText(range) else { return false }
    return Value(referenceName: String(decoding: bytes[range], as: UTF8.self)) != nil
  }

  private func isGeoPoint(_ range: Range<Int>) -> Bool {
    var position = range.lowerBound
    for (tag, limit) in [(0x09, 90.0), (0x11, 180.0)] as [(UInt8, Double)]
    where position < range.upperBound && bytes[position] == tag {
      guard position + 9 <= range.upperBound, isDouble(at: position + 1) else { return false }
      let bits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position + 1, as: UInt64.self))
      guard bits != 0, !isStrict || Double(bitPattern: bits).magnitude <= limit else { return false }
      position += 9
    }
    return position == range.upperBound
  }

  private func isArray(_ range: Range<Int>, depth: Int) -> Bool {
    var position = range.lowerBound
    while position < range.upperBound {
      guard let element = field(0x0a, at: position, before: range.upperBound), isValue(element, depth: depth + 1),
        !isStrict || bytes[element.lowerBound] != 0x4a
      else { return false }
      position = element.upperBound
    }
    return true
  }

  private func isMap(_ range: Range<Int>, depth: Int) -> Bool {
    var position = range.lowerBound
    var last: Range<Int>?
    while position < range.upperBound {
      guard let entry = field(0x0a, at: position, before: range.upperBound),
        let name = name(ofEntry: entry, depth: depth + 1)
      else { return false }
      if let last {
        if !isAscending(last, name) { return false }
      } else if !name.isEmpty, bytes[name.lowerBound] == UInt8(ascii: "_") {
        // A map with this name may represent another type, which is encoded differently.
        return false
      }
      last = name
      position = entry.upperBound
    }
    return true
  }
}
