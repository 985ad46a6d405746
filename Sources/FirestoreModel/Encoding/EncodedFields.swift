// SPDX-License-Identifier: Apache-2.0

/// The `fields` entries of a `google.firestore.v1.Document` as wire bytes (field 2, repeated map entries), names
/// sorted by UTF-8 so that equal fields have equal bytes.
///
/// A field is found and compared in place, without decoding the others.
package struct EncodedFields: Sendable, Hashable {
  /// `google.firestore.v1.Document.fields`.
  package static let fieldNumber = 2

  package let bytes: [UInt8]

  /// - Parameter bytes: canonical and well formed, that is written by `init(_ fields:)`; bytes from outside go
  ///   through `init(validating:)`. Malformed bytes are never read beyond their end; they look like absent fields.
  package init(trusted bytes: [UInt8]) { self.bytes = bytes }

  package init(_ fields: Fields) {
    var writer = WireWriter()
    writer.entries(Self.fieldNumber, fields)
    bytes = writer.bytes
  }

  /// Wire bytes from outside, made canonical: sorted, the last of several fields with one name, no unknown ones.
  /// - Throws: `data-loss` on anything malformed.
  package init(validating bytes: [UInt8]) throws(ModelError) {
    self = try decode(bytes, "document") { reader throws(WireError) in try EncodedFields(document: reader.unread) }
  }

  /// All fields. What does not read back (bytes damaged on disk) is left out.
  package func decoded() -> Fields { withView { $0.decoded() } }

  /// The value at a path; only it is decoded.
  package subscript(path: FieldPath) -> Value? { withView { $0[path] } }

  /// Compares the field at `path` with `value` in the total order, in place; `nil` if there is no such field.
  package func compare(_ path: FieldPath, with value: Value) -> Ordering? { withView { $0.compare(path, with: value) } }

  /// Looks at the bytes without copying them; the view must not leave `body`.
  @inline(__always)
  package func withView<Result>(_ body: (EncodedFieldsView) -> Result) -> Result {
    bytes.withUnsafeBytes { body(EncodedFieldsView($0)) }
  }
}
