// SPDX-License-Identifier: Apache-2.0

/// A document id as bytes that sort as Firestore sorts ids: numeric ids (`__id7__`) first, by number, then the others
/// by UTF-8.
///
/// ```
/// numeric  00  number as big-endian with its sign bit flipped (8 bytes)  id as UTF-8
/// other    01  id as UTF-8
/// ```
struct DocumentName: Hashable, Comparable, Sendable {
  let bytes: [UInt8]

  init(stored bytes: [UInt8]) { self.bytes = bytes }

  init(_ id: some StringProtocol) {
    let text = id.utf8
    var bytes: [UInt8] = []
    if let number = Self.number(of: id) {
      bytes.reserveCapacity(text.count + 9)
      bytes.append(0)
      let ordered = UInt64(bitPattern: number) ^ (1 << 63)
      withUnsafeBytes(of: ordered.bigEndian) { bytes.append(contentsOf: $0) }
    } else {
      bytes.reserveCapacity(text.count + 1)
      bytes.append(1)
    }
    bytes.append(contentsOf: text)
    self.bytes = bytes
  }

  var id: String { bytes.withUnsafeBytes(Self.id) }

  /// The smallest name after this one.
  var successor: DocumentName { DocumentName(stored: bytes + [0]) }

  static let first = DocumentName(stored: [])
  static let last = DocumentName(stored: [0xFF])

  static func id(_ stored: UnsafeRawBufferPointer) -> String {
    String(decoding: stored.dropFirst(stored.first == 0 ? 9 : 1), as: UTF8.self)
  }

  static func < (left: DocumentName, right: DocumentName) -> Bool {
    left.bytes.withUnsafeBufferPointer { left in
      right.bytes.withUnsafeBufferPointer { right in
        left.lexicographicallyPrecedes(right)
      }
    }
  }

  private static func number(of id: some StringProtocol) -> Int64? {
    let text = id.utf8
    guard text.count > 6, text.starts(with: "__id".utf8), text.suffix(2).elementsEqual("__".utf8) else { return nil }
    let digits = text.dropFirst(4).dropLast(2)
    guard digits.first != UInt8(ascii: "+") else { return nil }
    return Int64(Substring(digits.map { Character(Unicode.Scalar($0)) }))
  }
}
