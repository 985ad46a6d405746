// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

// The messages that carry documents are read and written by hand: their fields go from the wire to the cache, and from
// the backend's file to the wire, as bytes. The generated messages would take them apart and build them anew.

/// The bytes that all names of documents of one database begin with.
package struct DocumentNames: Sendable {
  package let database: DatabaseID
  private let prefix: [UInt8]

  package init(_ database: DatabaseID) {
    self.database = database
    prefix = [UInt8]((database.documentsName + "/").utf8)
  }

  /// - Throws: for a name outside the database and for one that is not a document's.
  func key(_ name: UnsafeRawBufferPointer) throws(WireError) -> DocumentKey {
    guard name.count > prefix.count, name.starts(with: prefix) else {
      throw WireError("\"\(String(decoding: name, as: UTF8.self))\" is not in \(database.documentsName)")
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

  func write(_ key: DocumentKey, as field: Int, to writer: inout WireWriter) {
    let path = key.path.text.utf8
    writer.tag(field, .lengthDelimited)
    writer.varint(UInt64(prefix.count + path.count))
    writer.raw(prefix)
    writer.raw(path)
  }
}

extension WireReader {
  /// A field that holds a `google.firestore.v1.Document`.
  package mutating func document(_ names: DocumentNames) throws(WireError) -> Document {
    let bytes = try lengthDelimited()
    var key: DocumentKey?
    var updateTime: SnapshotVersion?
    var createTime: SnapshotVersion?
    var reader = WireReader(bytes)
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): key = try names.key(try reader.lengthDelimited())
      case (3, .lengthDelimited): createTime = SnapshotVersion(try reader.timestamp())
      case (4, .lengthDelimited): updateTime = SnapshotVersion(try reader.timestamp())
      default: try reader.skip(tag.type)
      }
    }
    guard let key else { throw WireError("a document has no name") }
    guard let updateTime else { throw WireError("the document \"\(key)\" has no update time") }
    let data = DocumentData(encoded: try EncodedFields(document: bytes))
    return Document(key: key, version: updateTime, createTime: createTime, state: .found(data))
  }
}

extension WireWriter {
  /// A field with the content of a `google.firestore.v1.Document`.
  /// - Precondition: the document exists.
  package mutating func field(_ number: Int, document: Document, _ names: DocumentNames) {
    field(number) { $0.document(document, names) }
  }

  /// The content of a `google.firestore.v1.Document`.
  package mutating func document(_ document: Document, _ names: DocumentNames) {
    names.write(document.key, as: 1, to: &self)
    if let data = document.data { raw(data.encoded.bytes) }
    if let createTime = document.createTime { field(3, timestamp: createTime.timestamp) }
    if let version = document.version { field(4, timestamp: version.timestamp) }
  }
}
