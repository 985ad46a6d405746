// SPDX-License-Identifier: Apache-2.0

extension EncodedFields {
  /// The fields of a whole `google.firestore.v1.Document`, checked and made canonical. Where each field is canonical by
  /// itself, as other clients and servers write them, nothing is decoded: the bytes are copied, in the order of names.
  package init(document bytes: UnsafeRawBufferPointer) throws(WireError) {
    if let canonical = Self.canonicalEntries(ofDocument: bytes) {
      self.init(trusted: canonical)
      return
    }
    var reader = WireReader(bytes)
    self.init(try reader.fields(Self.fieldNumber))
  }

  private static let tag = UInt8(fieldNumber << 3 | 2)

  /// - Returns: `nil` if there is anything to decode or to refuse.
  private static func canonicalEntries(ofDocument bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    let scan = CanonicalScan(bytes)
    var reader = WireReader(bytes)
    // What is copied as a whole: entries that follow each other, their names ascending.
    var start: Int?
    var last: (name: Range<Int>, end: Int)?
    while !reader.isAtEnd {
      let position = bytes.count - reader.remaining
      guard let entry = scan.field(tag, at: position, before: bytes.count) else {
        guard let tag = try? reader.tag(), tag.field != fieldNumber, (try? reader.skip(tag.type)) != nil else {
          return nil
        }
        continue
      }
      guard let name = scan.name(ofEntry: entry) else { return nil }
      if let last {
        guard last.end == position, scan.isAscending(last.name, name) else { return sortedEntries(of: bytes, scan) }
      }
      if start == nil { start = position }
      last = (name, entry.upperBound)
      reader.move(to: entry.upperBound)
    }
    guard let start, let last else { return [] }
    return [UInt8](bytes[start..<last.end])
  }

  /// The same with entries anywhere, in any order.
  private static func sortedEntries(of bytes: UnsafeRawBufferPointer, _ scan: CanonicalScan) -> [UInt8]? {
    var entries: [(name: Range<Int>, all: Range<Int>)] = []
    entries.reserveCapacity(16)
    var reader = WireReader(bytes)
    while !reader.isAtEnd {
      let position = bytes.count - reader.remaining
      guard let entry = scan.field(tag, at: position, before: bytes.count) else {
        guard let tag = try? reader.tag(), tag.field != fieldNumber, (try? reader.skip(tag.type)) != nil else {
          return nil
        }
        continue
      }
      guard let name = scan.name(ofEntry: entry) else { return nil }
      entries.append((name, position..<entry.upperBound))
      reader.move(to: entry.upperBound)
    }
    entries.sort { scan.isAscending($0.name, $1.name) }
    // Of several fields with one name the last counts, which is for the general reader.
    for index in entries.indices.dropFirst() where !scan.isAscending(entries[index - 1].name, entries[index].name) {
      return nil
    }
    var result: [UInt8] = []
    result.reserveCapacity(entries.reduce(0) { $0 + $1.all.count })
    for entry in entries { result.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[entry.all])) }
    return result
  }
}
