// SPDX-License-Identifier: Apache-2.0

/// Writes numbers, texts and bytes so that comparing the result bytewise compares what was written: the form of index
/// entries in the SDKs (VALUE-ORDER "Index encodings", JavaScript's numbers). Here NaN sorts last and -0.0 before 0.0;
/// whoever writes values in Firestore's order gives NaN a place of its own and writes -0.0 as 0.0.
package struct OrderedCode: Sendable {
  package private(set) var bytes: [UInt8] = []
  /// Complements every byte that is appended from now on, which reverses its order.
  package var isDescending: Bool

  package init(isDescending: Bool = false) { self.isDescending = isDescending }

  /// The bits, made to sort as unsigned, without leading zero bytes, after their number.
  package mutating func append(_ number: Double) {
    let sign: UInt64 = 1 << 63
    let bits = number.bitPattern
    let ordered = bits & sign != 0 ? ~bits : bits | sign
    let count = 8 - ordered.leadingZeroBitCount / 8
    append(byte: UInt8(count))
    for index in (0..<count).reversed() { append(byte: UInt8(truncatingIfNeeded: ordered >> UInt64(8 * index))) }
  }

  package mutating func append(_ text: String) { append(text.utf8) }

  /// Two values are escaped, so that the end (00 01) sorts before every continuation.
  package mutating func append(_ content: some Sequence<UInt8>) {
    for byte in content {
      append(byte: byte)
      if byte == 0x00 { append(byte: 0xff) }
      if byte == 0xff { append(byte: 0x00) }
    }
    append(byte: 0x00)
    append(byte: 0x01)
  }

  /// Sorts after everything else; ends an entry of which only a prefix is given.
  package mutating func appendInfinity() {
    append(byte: 0xff)
    append(byte: 0xff)
  }

  @inline(__always)
  mutating func append(byte: UInt8) { bytes.append(isDescending ? ~byte : byte) }

  /// Goes back to the first `count` bytes.
  package mutating func cut(to count: Int) {
    if bytes.count > count { bytes.removeSubrange(count...) }
  }
}
