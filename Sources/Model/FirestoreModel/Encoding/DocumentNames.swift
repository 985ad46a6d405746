// SPDX-License-Identifier: Apache-2.0

/// The form in which messages name documents: by the names of one database, or by paths alone.
package struct DocumentNames: Sendable {
  /// Paths alone, as a cache stores them.
  package static let relative = DocumentNames(prefix: "")

  private let prefix: [UInt8]

  private init(prefix: String) { self.prefix = [UInt8](prefix.utf8) }

  /// The names of one database, `projects/P/databases/D/documents/…`.
  package init(_ database: DatabaseID) { self.init(prefix: database.documentsName + "/") }

  /// The key of a name.
  /// - Throws: an error for a name outside the database and for one that is not a document's.
  package func key(_ name: UnsafeRawBufferPointer) throws(WireError) -> DocumentKey {
    guard name.count > prefix.count, hasPrefix(name) else {
      let (name, root) = (String(decoding: name, as: UTF8.self), String(decoding: prefix, as: UTF8.self))
      throw WireError("\"\(name)\" does not begin with \"\(root)\"")
    }
    let path = UnsafeRawBufferPointer(rebasing: name[prefix.count...])
    var slashes = 0
    var previous = UInt8(ascii: "/")
    var allBits: UInt8 = 0
    for byte in path {
      allBits |= byte
      if byte == UInt8(ascii: "/") {
        if previous == byte { throw WireError("the name of a document has an empty segment") }
        slashes += 1
      }
      previous = byte
    }
    guard !slashes.isMultiple(of: 2), previous != UInt8(ascii: "/") else {
      throw WireError("\"\(String(decoding: name, as: UTF8.self))\" is not the name of a document")
    }
    // ASCII needs no validation.
    if allBits < 0x80 { return DocumentKey(unchecked: ResourcePath(String(decoding: path, as: UTF8.self))) }
    guard let text = String(validating: path, as: UTF8.self) else {
      throw WireError("the name of a document is not valid UTF-8")
    }
    return DocumentKey(unchecked: ResourcePath(text))
  }

  private func hasPrefix(_ name: UnsafeRawBufferPointer) -> Bool {
    prefix.withUnsafeBufferPointer { prefix in
      name.withMemoryRebound(to: UInt8.self) { name in
        Ordering.firstDifference(prefix, UnsafeBufferPointer(rebasing: name[..<prefix.count])) == prefix.count
      }
    }
  }

  package func key(_ name: String) throws(WireError) -> DocumentKey {
    let result: Result<DocumentKey, WireError> = name.withUTF8Bytes { bytes in
      do throws(WireError) { return .success(try key(UnsafeRawBufferPointer(bytes))) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Writes a field with the document's name.
  package func write(_ key: DocumentKey, as field: Int, to writer: inout WireWriter) {
    let path = key.path.text.utf8
    writer.tag(field, .lengthDelimited)
    writer.varint(UInt64(prefix.count + path.count))
    writer.raw(prefix)
    writer.raw(path)
  }
}
