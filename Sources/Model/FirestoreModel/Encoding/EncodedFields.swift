// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The `fields` entries of a `google.firestore.v1.Document` as wire bytes (field 2, repeated map entries). The entries
/// are sorted by the UTF-8 bytes of their names, so equal fields have equal bytes.
///
/// A field can be found and compared without decoding the other fields.
package struct EncodedFields: Sendable, Hashable {
  /// The field number of `google.firestore.v1.Document.fields`.
  package static let fieldNumber = 2

  package let bytes: [UInt8]

  /// Wraps bytes without checking them.
  /// - Parameter bytes: canonical and well-formed bytes, such as the result of `init(_ fields:)`. Use
  ///   `init(validating:)` for external bytes. If the bytes are malformed, unreadable fields count as absent, and
  ///   nothing is read beyond the end of the bytes.
  package init(trusted bytes: [UInt8]) { self.bytes = bytes }

  /// The initial capacity in bytes for each field. Most fields need less.
  private static let usualBytes = 40

  package init(_ fields: Fields) {
    if let plain = fields.plain {
      self = plain
      return
    }
    var writer = WireWriter(capacity: Self.usualBytes * fields.count)
    writer.entries(Self.fieldNumber, fields)
    bytes = writer.bytes
  }

  /// Converts wire bytes from another program to the canonical form: sorted, without unknown fields, and with only the
  /// last field of each name.
  /// - Throws: `data-loss` if the bytes are malformed.
  package init(validating bytes: [UInt8]) throws(ModelError) {
    self = try decode(bytes, "document") { reader throws(WireError) in try EncodedFields(document: reader.unread) }
  }

  /// The decoded fields. If the bytes were damaged on disk, the result contains only the fields before the damage.
  package func decoded() -> Fields { withView { $0.decoded() } }

  /// The value at a path. Decodes only this value.
  package subscript(path: FieldPath) -> Value? { withView { $0[path] } }

  /// Compares the field at `path` with `value` in Firestore's total order, without decoding the field. `nil` if the
  /// field is absent.
  package func compare(_ path: FieldPath, with value: Value) -> Ordering? { withView { $0.compare(path, with: value) } }

  /// Calls `body` with a view of the bytes, which are not copied. The view must not be used after `body` returns.
  @inline(__always)
  package func withView<Result>(_ body: (EncodedFieldsView) -> Result) -> Result {
    bytes.withUnsafeBytes { body(EncodedFieldsView($0)) }
  }
}

extension EncodedFields {
  /// Reads the fields of a whole `google.firestore.v1.Document`, checks them and converts them to the canonical form.
  /// If every field already has the canonical encoding, the bytes are sorted by name and copied without decoding. Most
  /// other clients and servers send this encoding.
  package init(document bytes: UnsafeRawBufferPointer) throws(WireError) {
    if let canonical = Self.canonicalEntries(ofDocument: bytes) {
      self.init(trusted: canonical)
      return
    }
    var reader = WireReader(bytes)
    self.init(try reader.fields(Self.fieldNumber))
  }

  /// The tag of an entry.
  static let tag = UInt8(fieldNumber << 3 | 2)

  /// The entries in a document message, if they are canonical.
  /// - Parameter isStrict: whether to accept only entries that a commit would store unchanged (`CanonicalScan`).
  /// - Returns: `nil` if any of the entries must be decoded or rejected.
  static func canonicalEntries(ofDocument bytes: UnsafeRawBufferPointer, isStrict: Bool = false) -> [UInt8]? {
    var entries = CanonicalEntries(bytes, tag, isStrict: isStrict)
    // Adjacent entries with ascending names are copied as a whole.
    guard let first = entries.next() else { return entries.isCanonical ? [] : nil }
    var last = first
    while let entry = entries.next() {
      guard last.all.upperBound == entry.all.lowerBound, entries.scan.isAscending(last.name, entry.name) else {
        return sortedEntries(of: bytes, isStrict: isStrict)
      }
      last = entry
    }
    return entries.isCanonical ? [UInt8](bytes[first.all.lowerBound..<last.all.upperBound]) : nil
  }

  /// The canonical entries in a document message whose entries are not adjacent or not sorted.
  private static func sortedEntries(of bytes: UnsafeRawBufferPointer, isStrict: Bool) -> [UInt8]? {
    var entries = CanonicalEntries(bytes, tag, isStrict: isStrict)
    var found: [CanonicalEntries.Entry] = []
    found.reserveCapacity(16)
    while let entry = entries.next() { found.append(entry) }
    guard entries.isCanonical else { return nil }
    let scan = entries.scan
    found.sort { scan.isAscending($0.name, $1.name) }
    // Repeated names are left to the general reader, which uses the last field of each name.
    for index in found.indices.dropFirst() where !scan.isAscending(found[index - 1].name, found[index].name) {
      return nil
    }
    var result: [UInt8] = []
    result.reserveCapacity(found.reduce(0) { $0 + $1.all.count })
    for entry in found { result.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[entry.all])) }
    return result
  }
}

/// Iterates over the field entries in a document message, in the message's order. Skips other content.
private struct CanonicalEntries {
  typealias Entry = (name: Range<Int>, all: Range<Int>)

  let scan: CanonicalScan
  /// Whether all entries so far were canonical. The iteration ends at an entry that must be decoded or rejected.
  private(set) var isCanonical = true
  private let tag: UInt8
  private var reader: WireReader

  /// Starts before the first entry.
  /// - Parameter tag: the one-byte tag of the field entries.
  init(_ bytes: UnsafeRawBufferPointer, _ tag: UInt8, isStrict: Bool) {
    scan = CanonicalScan(bytes, isStrict: isStrict)
    reader = WireReader(bytes)
    self.tag = tag
  }

  @inline(__always)
  mutating func next() -> Entry? {
    let end = scan.bytes.count
    while isCanonical, !reader.isAtEnd {
      let position = end - reader.remaining
      if let entry = scan.field(tag, at: position, before: end), let name = scan.name(ofEntry: entry) {
        reader.move(to: entry.upperBound)
        return (name, position..<entry.upperBound)
      }
      isCanonical = passOver()
    }
    return nil
  }

  /// Skips content that is not a field entry. The content must be well formed.
  /// - Returns: whether such content was skipped.
  private mutating func passOver() -> Bool {
    guard let found = try? reader.tag() else { return false }
    return found.field != EncodedFields.fieldNumber && (try? reader.skip(found.type)) != nil
  }
}

/// Decodes stored bytes with a reader. If the bytes are unreadable, the error contains the kind of the data.
package func decode<T>(
  _ bytes: [UInt8], _ what: String, _ read: (inout WireReader) throws(WireError) -> T
) throws(ModelError) -> T {
  do throws(WireError) { return try WireReader.read(bytes, read) } catch {
    throw ModelError(.dataLoss, "A stored \(what) cannot be read: \(error.reason).")
  }
}

extension EncodedFields {
  /// The fields after a patch and its transforms. Decodes only values that a nested path or a transform needs, and
  /// encodes only changed values. Copies the bytes of all other values.
  /// - Parameters:
  ///   - new: the values for the mask's paths. If a path has no value here, its field is removed.
  ///   - transforms: the transforms to apply after the patch, in order.
  ///   - result: returns the value of a transform, given the transform's index and the previous value.
  func patched(
    with new: Fields, at mask: FieldMask, _ transforms: [FieldTransform], result: (Int, Value?) -> Value
  ) -> EncodedFields {
    var changed = ChangedFields(of: self)
    for path in mask.paths { changed.set(path, new[path]) }
    for (index, transform) in transforms.enumerated() {
      changed.set(transform.path, result(index, changed[transform.path]))
    }
    return replacing(changed)
  }

  /// A copy of the fields in which some values are replaced. Fields without a new value are removed.
  private func replacing(_ changed: ChangedFields) -> EncodedFields {
    let names = changed.names.sorted { $0.compareUTF8($1) == .ascending }
    var writer = WireWriter(capacity: bytes.count + 64 * names.count)
    let isWhole = bytes.withUnsafeBytes { writer.copyEntries($0, replacing: names, by: changed) }
    if isWhole { return EncodedFields(trusted: writer.bytes) }
    // Decodes all fields if there are long names or values, or other encodings.
    var fields = decoded()
    for name in names { fields[name] = changed.value(of: name) }
    return EncodedFields(fields)
  }
}

extension WireWriter {
  /// Copies the entries of a document, except the entries that change.
  /// - Parameter names: the names of the changed fields, in ascending order.
  /// - Returns: whether all other entries could be copied in their encoded form.
  fileprivate mutating func copyEntries(
    _ old: UnsafeRawBufferPointer, replacing names: [String], by changed: ChangedFields
  ) -> Bool {
    var reader = WireReader(old)
    var rest = names[...]
    var copied = 0
    while let next = rest.first {
      let start = old.count - reader.remaining
      guard let entry = reader.canonicalEntry(EncodedFields.tag) else { break }
      let length = Int(entry[1])
      guard length <= entry.count - 2 else { return false }
      let name = UnsafeRawBufferPointer(rebasing: entry[2..<(2 + length)])
      switch next.withUTF8Bytes({ Ordering.lexicographic($0, name.assumingMemoryBound(to: UInt8.self)) }) {
      case .descending: continue
      case .equal:
        raw(UnsafeRawBufferPointer(rebasing: old[copied..<start]))
        copied = old.count - reader.remaining
      case .ascending:
        raw(UnsafeRawBufferPointer(rebasing: old[copied..<start]))
        copied = start
        reader.move(to: start)
      }
      if let value = changed.value(of: next) { self.entry(EncodedFields.fieldNumber, next, value) }
      rest = rest.dropFirst()
    }
    if !rest.isEmpty, !reader.isAtEnd { return false }
    raw(UnsafeRawBufferPointer(rebasing: old[copied...]))
    for next in rest {
      if let value = changed.value(of: next) { self.entry(EncodedFields.fieldNumber, next, value) }
    }
    return true
  }
}

/// The top-level fields of a document that a patch changes.
private struct ChangedFields {
  private let old: EncodedFields
  /// The new values; `nil` for a field to remove.
  private var values: [(name: String, value: Value?)] = []

  init(of old: EncodedFields) { self.old = old }

  var names: [String] { values.map(\.name) }

  func value(of name: String) -> Value? { values.first { $0.name.equalsUTF8(name) }?.value }

  subscript(path: FieldPath) -> Value? {
    guard let value = values.first(where: { $0.name.equalsUTF8(path.first) })?.value else {
      return values.contains { $0.name.equalsUTF8(path.first) } ? nil : old[path]
    }
    return path.segments.count == 1 ? value : Fields(sorted: [(path.first, value)])[path]
  }

  mutating func set(_ path: FieldPath, _ value: Value?) {
    let place = values.firstIndex { $0.name.equalsUTF8(path.first) }
    var changed: Value? = value
    if path.segments.count > 1 {
      var around = Fields()
      around[path.first] = if let place { values[place].value } else { old[FieldPath(path.first)] }
      around[path] = value
      changed = around[path.first]
    }
    if let place { values[place].value = changed } else { values.append((path.first, changed)) }
  }
}

extension EncodedFields {
  /// Whether the values may include an unresolved server timestamp. To decide this, searches for the first bytes of the
  /// type name of server timestamps.
  var mayHoldServerTimestamp: Bool {
    let name = TypedMap.serverTimestamp.withUTF8Bytes { UnsafeRawBufferPointer($0).loadUnaligned(as: UInt64.self) }
    return bytes.withUnsafeBytes { bytes in
      var position = 0
      while position + 8 <= bytes.count {
        if bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) == name { return true }
        position += 1
      }
      return false
    }
  }
}

/// Encoded fields that can be stored unchanged. They are decoded only when first accessed. A server that only stores
/// them never decodes them.
final class PlainFields: Sendable {
  let encoded: EncodedFields
  private let decoded = Mutex<[Fields.Entry]?>(nil)

  init(_ encoded: EncodedFields) { self.encoded = encoded }

  var entries: [Fields.Entry] {
    decoded.withLock { decoded in
      if let decoded { return decoded }
      let entries = encoded.decoded().entries
      decoded = entries
      return entries
    }
  }
}

extension Fields {
  /// Wraps the fields of a whole `google.firestore.v1.Document` without decoding them.
  /// - Returns: `nil` if a scan does not show that a commit may contain these bytes and would store them unchanged.
  package init?(plainDocument bytes: UnsafeRawBufferPointer) {
    guard let encoded = EncodedFields(plainDocument: bytes) else { return nil }
    self.init(PlainFields(encoded))
  }

  /// Whether the fields are known to be valid in a commit and to have the encoding in which a commit stores them.
  package var arePlain: Bool { plain != nil }
}

extension EncodedFields {
  /// The encoded size in bytes below which a document cannot exceed the size limit. Firestore's size calculation
  /// results in at most eight times the encoded size, so only larger documents need an exact calculation.
  package static let uncountedBytes = WriteLimit.documentBytes / 8

  fileprivate init?(plainDocument bytes: UnsafeRawBufferPointer) {
    guard bytes.count <= Self.uncountedBytes, let canonical = Self.canonicalEntries(ofDocument: bytes, isStrict: true)
    else { return nil }
    self.init(trusted: canonical)
  }
}
