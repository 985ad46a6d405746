// SPDX-License-Identifier: Apache-2.0

/// The `fields` entries of a `google.firestore.v1.Document` as wire bytes (field 2, repeated map entries), names
/// sorted by UTF-8 so that equal fields have equal bytes.
///
/// A field is found and compared in place, without decoding the others.
package struct EncodedFields: Sendable, Hashable {
  /// The field number of `google.firestore.v1.Document.fields`.
  package static let fieldNumber = 2

  package let bytes: [UInt8]

  /// Takes bytes without checking them.
  /// - Parameter bytes: canonical and well formed, that is written by `init(_ fields:)`; bytes from outside go
  ///   through `init(validating:)`. Malformed bytes are never read beyond their end; they look like absent fields.
  package init(trusted bytes: [UInt8]) { self.bytes = bytes }

  /// The bytes of a field to make room for at first: most take less.
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

  /// Wire bytes from outside, made canonical: sorted, the last of several fields with one name, no unknown ones.
  /// - Throws: `data-loss` on anything malformed.
  package init(validating bytes: [UInt8]) throws(ModelError) {
    self = try decode(bytes, "document") { reader throws(WireError) in try EncodedFields(document: reader.unread) }
  }

  /// All fields, up to the first that cannot be read (bytes damaged on disk).
  package func decoded() -> Fields { withView { $0.decoded() } }

  /// The value at a path; only this value is decoded.
  package subscript(path: FieldPath) -> Value? { withView { $0[path] } }

  /// Compares the field at `path` with `value` in the total order, in place; `nil` if there is no such field.
  package func compare(_ path: FieldPath, with value: Value) -> Ordering? { withView { $0.compare(path, with: value) } }

  /// Looks at the bytes without copying them; the view must not leave `body`.
  @inline(__always)
  package func withView<Result>(_ body: (EncodedFieldsView) -> Result) -> Result {
    bytes.withUnsafeBytes { body(EncodedFieldsView($0)) }
  }
}

extension EncodedFields {
  /// The fields of a whole `google.firestore.v1.Document`, checked and made canonical. If each field is canonical by
  /// itself, as other clients and servers write them, nothing is decoded: the bytes are copied, in the order of names.
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

  /// The canonical entries of a document's message.
  /// - Parameter isStrict: whether a commit must be able to store them as they are (`CanonicalScan`).
  /// - Returns: `nil` if any of them must be decoded or refused.
  static func canonicalEntries(ofDocument bytes: UnsafeRawBufferPointer, isStrict: Bool = false) -> [UInt8]? {
    var entries = CanonicalEntries(bytes, tag, isStrict: isStrict)
    // Entries that follow each other with ascending names are copied as a whole.
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

  /// The canonical entries of a document's message in which they are scattered or unordered.
  private static func sortedEntries(of bytes: UnsafeRawBufferPointer, isStrict: Bool) -> [UInt8]? {
    var entries = CanonicalEntries(bytes, tag, isStrict: isStrict)
    var found: [CanonicalEntries.Entry] = []
    found.reserveCapacity(16)
    while let entry = entries.next() { found.append(entry) }
    guard entries.isCanonical else { return nil }
    let scan = entries.scan
    found.sort { scan.isAscending($0.name, $1.name) }
    // The last of several fields with one name counts, which the general reader decides.
    for index in found.indices.dropFirst() where !scan.isAscending(found[index - 1].name, found[index].name) {
      return nil
    }
    var result: [UInt8] = []
    result.reserveCapacity(found.reduce(0) { $0 + $1.all.count })
    for entry in found { result.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[entry.all])) }
    return result
  }
}

/// The fields of a document's message, in its order; other content is passed over.
private struct CanonicalEntries {
  typealias Entry = (name: Range<Int>, all: Range<Int>)

  let scan: CanonicalScan
  /// Whether all entries so far were canonical; after one that has to be decoded or refused there are no more entries.
  private(set) var isCanonical = true
  private let tag: UInt8
  private var reader: WireReader

  /// Begins at the first entry.
  /// - Parameter tag: the tag of the fields, one byte.
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

  /// Passes over other content than a field.
  /// - Returns: whether there was such content, and well formed.
  private mutating func passOver() -> Bool {
    guard let found = try? reader.tag() else { return false }
    return found.field != EncodedFields.fieldNumber && (try? reader.skip(found.type)) != nil
  }
}

/// Runs a reader over stored bytes; its error names the kind of thing that could not be read.
package func decode<T>(
  _ bytes: [UInt8], _ what: String, _ read: (inout WireReader) throws(WireError) -> T
) throws(ModelError) -> T {
  do throws(WireError) { return try WireReader.read(bytes, read) } catch {
    throw ModelError(.dataLoss, "A stored \(what) cannot be read: \(error.reason).")
  }
}
