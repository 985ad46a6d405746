// SPDX-License-Identifier: Apache-2.0

/// Reads `EncodedFields` without copying: from an array, or from a row borrowed from SQLite. Nothing is copied or
/// allocated until a value is requested. The view must not be used after the bytes become invalid.
///
/// Errors of `WireReader` are ignored (`try?`). A field that was damaged on disk counts as absent, because these
/// functions cannot report the damage. The store detects damage with its checksums.
package struct EncodedFieldsView {
  private let bytes: UnsafeRawBufferPointer

  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  package subscript(path: FieldPath) -> Value? { find(path)?.decoded() }

  /// Compares the field at `path` with `value` in Firestore's total order. `nil` if the field is absent.
  package func compare(_ path: FieldPath, with value: Value) -> Ordering? { find(path)?.compare(with: value) }

  /// Decodes the fields before the first malformed byte.
  package func decoded() -> Fields { decoded(EncodedFields.fieldNumber) }

  /// - Parameter number: the protobuf field number of the entries.
  func decoded(_ number: Int) -> Fields {
    var entries: [Fields.Entry] = []
    entries.reserveCapacity(16)
    var reader = WireReader(bytes)
    while let tag = try? reader.tag() {
      guard tag.type == .lengthDelimited, tag.field == number, var message = try? reader.message(),
        let entry = try? message.entry(depth: 0)
      else { break }
      entries.append(entry)
    }
    return Fields(unsorted: entries)
  }

  /// The encoded value at a path.
  /// - Returns: `nil` if a segment is absent, its parent is not a map, or the bytes are malformed.
  package func find(_ path: FieldPath) -> EncodedValueView? {
    var entries = bytes
    var number = EncodedFields.fieldNumber
    var found: EncodedValueView?
    for segment in path.segments {
      if let parent = found {
        guard let content = parent.mapContent else { return nil }
        entries = content
        number = 1
      }
      guard let value = WireReader(entries).entry(named: segment, number: number) else { return nil }
      found = EncodedValueView(value)
    }
    return found
  }
}

/// A `google.firestore.v1.Value` that is read without copying it.
package struct EncodedValueView {
  let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The decoded value; `nil` if the bytes are malformed.
  package func decoded() -> Value? {
    var reader = WireReader(bytes)
    return try? reader.value()
  }

  /// The rank of the value's type in Firestore's total order. It is the same as `Value.typeRank`.
  package var typeRank: Int? {
    var reader = WireReader(bytes)
    guard let tag = try? reader.tag() else { return nil }
    switch tag.field {
    case 11: return 0
    case 1: return 2
    case 2, 3: return 4
    case 10: return 6
    case 17: return 10
    case 18: return 12
    case 5: return 14
    case 8: return 16
    case 9: return 18
    default: return decoded()?.typeRank
    }
  }

  /// Whether this is the double NaN, which range filters never match.
  package var isNaN: Bool {
    var reader = WireReader(bytes)
    guard let tag = try? reader.tag(), tag.field == 3, let value = try? reader.double() else { return false }
    return value.isNaN
  }

  /// Compares this value with `value`. Scalars are compared without decoding.
  /// - Parameter numericIDs: determines how numeric ids in references are ordered.
  package func compare(with value: Value, _ numericIDs: NumericIDOrder = .asText) -> Ordering? {
    var reader = WireReader(bytes)
    guard let tag = try? reader.tag() else { return nil }
    switch (tag.field, value) {
    case (17, .string(let text)):
      guard let stored = try? reader.lengthDelimited() else { return nil }
      return text.withUTF8Bytes { Ordering.lexicographic(stored.assumingMemoryBound(to: UInt8.self), $0) }
    case (2, .integer(let number)):
      guard let stored = try? reader.integer() else { return nil }
      return Ordering(stored, number)
    case (2, .double(let number)):
      guard let stored = try? reader.integer() else { return nil }
      return Ordering.numeric(stored, number)
    case (3, .double(let number)):
      guard let stored = try? reader.double() else { return nil }
      return Ordering.numeric(stored, number)
    case (3, .integer(let number)):
      guard let stored = try? reader.double() else { return nil }
      return Ordering.numeric(number, stored).reversed
    case (1, .boolean(let flag)):
      guard let stored = try? reader.boolean() else { return nil }
      return Ordering(stored ? 1 : 0, flag ? 1 : 0)
    case (10, .timestamp(let time)):
      guard let stored = try? reader.timestamp() else { return nil }
      return Ordering(stored, time)
    default:
      guard let rank = typeRank else { return nil }
      return rank == value.typeRank ? decoded()?.compare(value, numericIDs) : Ordering(rank, value.typeRank)
    }
  }

  /// The entries of a map; `nil` for a value of another type. This includes vectors and server timestamps: they are
  /// encoded as maps, but their entries are not fields.
  var mapContent: UnsafeRawBufferPointer? {
    var reader = WireReader(bytes)
    guard let tag = try? reader.tag(), tag.field == 6, tag.type == .lengthDelimited,
      let content = try? reader.lengthDelimited()
    else { return nil }
    if WireReader(content).entry(named: TypedMap.type, number: 1) != nil {
      guard case .map? = decoded() else { return nil }
    }
    return content
  }
}

extension WireReader {
  /// The encoded value of the map entry with this name. `number` is the protobuf field number of the entries. Names are
  /// compared without copying, so skipping an entry takes little longer than reading its two tags.
  func entry(named name: String, number: Int) -> UnsafeRawBufferPointer? {
    name.withUTF8Bytes { name in
      // A scan spends most of its time here, so entries in the canonical form are skipped without parsing them as
      // messages. The general reader handles the rest, from the first other entry on.
      var reader = self
      let tag = UInt8(truncatingIfNeeded: number << 3 | 2)
      while let entry = reader.canonicalEntry(tag) {
        if entry.count > name.count + 2, entry[1] == name.count, entry[0] == 0x0a, Self.isEqual(entry, name) {
          return WireReader(entry).value(ifNamed: name)
        }
      }
      while let tag = try? reader.tag() {
        guard tag.type == .lengthDelimited else {
          guard (try? reader.skip(tag.type)) != nil else { return nil }
          continue
        }
        guard let entry = try? reader.lengthDelimited() else { return nil }
        if tag.field == number, let value = WireReader(entry).value(ifNamed: name) { return value }
      }
      return nil
    }
  }

  /// Whether the name in the entry, after a tag and a length, is equal to `name`. The caller has already compared the
  /// lengths.
  @inline(__always)
  private static func isEqual(_ entry: UnsafeRawBufferPointer, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    for index in 0..<name.count where entry[index + 2] != name[index] { return false }
    return true
  }

  /// The encoded value of this map entry; `nil` if the entry has another name. Canonical entries start with the name.
  @inline(__always)
  private func value(ifNamed name: UnsafeBufferPointer<UInt8>) -> UnsafeRawBufferPointer? {
    var reader = self
    var isNamed = name.isEmpty
    var value: UnsafeRawBufferPointer?
    while let tag = try? reader.tag() {
      guard tag.type == .lengthDelimited else {
        guard (try? reader.skip(tag.type)) != nil else { return nil }
        continue
      }
      guard let content = try? reader.lengthDelimited() else { return nil }
      if tag.field == 1 {
        guard content.count == name.count else { return nil }
        for index in 0..<name.count where content[index] != name[index] { return nil }
        isNamed = true
      } else if tag.field == 2 {
        value = content
      }
    }
    return isNamed ? value : nil
  }
}

/// The encoded fields of a document or of a map in it. They can be read one by one without decoding the others. Retains
/// the document's bytes.
package struct EncodedEntries: Sendable {
  /// The content of a field.
  package enum Content: Sendable {
    case map(EncodedEntries)
    case value(Value)
  }

  private let document: EncodedFields
  /// The offset of the entries in the document's bytes.
  private let start: Int
  private let length: Int
  /// The protobuf field number of the entries.
  private let number: Int

  package init(_ document: EncodedFields) {
    self.init(document, start: 0, length: document.bytes.count, number: EncodedFields.fieldNumber)
  }

  private init(_ document: EncodedFields, start: Int, length: Int, number: Int) {
    (self.document, self.start, self.length, self.number) = (document, start, length, number)
  }

  @inline(__always)
  private func withEntries<Result>(_ body: (WireReader) -> Result) -> Result {
    document.bytes.withUnsafeBytes { body(WireReader(UnsafeRawBufferPointer(rebasing: $0[start..<(start + length)]))) }
  }

  /// All fields, decoded.
  package var fields: Fields {
    withEntries { EncodedFieldsView($0.unread).decoded(number) }
  }

  /// Whether there are more than `count` fields. Stops reading as soon as this is known.
  package func hasMore(than count: Int) -> Bool {
    withEntries { entries in
      var (entries, seen) = (entries, 0)
      while seen <= count, let tag = try? entries.tag(), (try? entries.skip(tag.type)) != nil { seen += 1 }
      return seen > count
    }
  }

  package func contains(_ name: String) -> Bool { withEntries { $0.entry(named: name, number: number) != nil } }

  /// The content of a field; `nil` if the field is absent. A map that represents another type, such as a vector, is
  /// returned as a value of this type.
  package func content(of name: String) -> Content? {
    document.bytes.withUnsafeBytes { bytes in
      let entries = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
      guard let found = WireReader(entries).entry(named: name, number: number) else { return nil }
      let value = EncodedValueView(found)
      if let inner = value.mapContent {
        let start = inner.baseAddress.flatMap { inner in bytes.baseAddress.map { inner - $0 } } ?? 0
        return .map(EncodedEntries(document, start: start, length: inner.count, number: 1))
      }
      return value.decoded().map { .value($0) }
    }
  }

  // MARK: Values of one type, without a `Value`

  /// - Returns: `nil` if the field is absent or has another type.
  package func boolean(_ name: String) -> Bool? {
    scalar(name, 1, .varint) { reader throws(WireError) in try reader.boolean() }
  }

  package func integer(_ name: String) -> Int64? {
    scalar(name, 2, .varint) { reader throws(WireError) in try reader.integer() }
  }

  package func double(_ name: String) -> Double? {
    scalar(name, 3, .fixed64) { reader throws(WireError) in try reader.double() }
  }

  package func text(_ name: String) -> String? {
    scalar(name, 17, .lengthDelimited) { reader throws(WireError) in try reader.string() }
  }

  @inline(__always)
  private func scalar<Result>(
    _ name: String, _ field: Int, _ type: WireType, _ read: (inout WireReader) throws(WireError) -> Result
  ) -> Result? {
    withEntries { entries in
      guard let found = entries.entry(named: name, number: number) else { return nil }
      var reader = WireReader(found)
      guard let tag = try? reader.tag(), tag.field == field, tag.type == type else { return nil }
      return try? read(&reader)
    }
  }
}
