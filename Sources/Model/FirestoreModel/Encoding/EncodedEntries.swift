// SPDX-License-Identifier: Apache-2.0

/// The encoded fields of a document, or of a map inside it, that are read one by one where they lie. Keeps the document's
/// bytes alive.
package struct EncodedEntries: Sendable {
  /// The content of a field.
  package enum Content: Sendable {
    case map(EncodedEntries)
    case value(Value)
  }

  private let document: EncodedFields
  /// The entries, as an offset and a length in the document's bytes.
  private let start: Int
  private let length: Int
  /// The number of an entry's field.
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

  /// Whether there are more than so many fields; looks at no more of them.
  package func hasMore(than count: Int) -> Bool {
    withEntries { entries in
      var (entries, seen) = (entries, 0)
      while seen <= count, let tag = try? entries.tag(), (try? entries.skip(tag.type)) != nil { seen += 1 }
      return seen > count
    }
  }

  package func contains(_ name: String) -> Bool { withEntries { $0.entry(named: name, number: number) != nil } }

  /// The content of a field; `nil` if there is none. A map that stands for another type is a value.
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

  /// - Returns: `nil` for a field of another type as well as for none.
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
