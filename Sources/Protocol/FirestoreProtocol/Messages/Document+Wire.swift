// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The content of a `google.firestore.v1.Document` in a request: its name and fields, not validated.
package struct DocumentMessage: Sendable {
  package var name = ""
  package var fields = Fields()
}

// The fields of a document remain encoded between the wire and the cache, and between the backend's file and the wire.

extension WireReader {
  /// Reads a field that contains the `google.firestore.v1.Document` of a request.
  /// - Parameter isToStore: whether the fields will probably be stored without being read. If so, they are decoded only
  ///   on demand.
  mutating func documentMessage(isToStore: Bool = false) throws(WireError) -> DocumentMessage {
    let bytes = try lengthDelimited()
    var (document, entries) = (DocumentMessage(), [Fields.Entry]())
    var reader = WireReader(bytes)
    if isToStore, let fields = Fields(plainDocument: bytes) {
      while let tag = try reader.tag() {
        if tag.field == 1, tag.type == .lengthDelimited {
          document.name = try reader.string()
        } else {
          try reader.skip(tag.type)
        }
      }
      document.fields = fields
      return document
    }
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): document.name = try reader.string()
      case (2, .lengthDelimited):
        var inner = try reader.message()
        entries.append(try inner.entry(depth: 0))
      default: try reader.skip(tag.type)
      }
    }
    document.fields = Fields(unsorted: entries)
    return document
  }

  /// Reads a field that contains a `google.firestore.v1.DocumentMask`. The order of the mask's paths does not matter.
  mutating func documentMask() throws(WireError) -> [String] {
    var paths: [String] = []
    try message(with: 1, .lengthDelimited) { reader throws(WireError) in paths.append(try reader.string()) }
    return paths
  }

  /// Reads a field that contains a `google.firestore.v1.Value`.
  mutating func valueField() throws(WireError) -> Value {
    var inner = try message()
    return try inner.value()
  }

  /// Reads a field that contains a `google.firestore.v1.Document`.
  /// - Parameter mayBeMissing: whether a document without times counts as missing. This is the case in a listing that
  ///   includes missing documents.
  package mutating func document(_ names: DocumentNames, mayBeMissing: Bool = false) throws(WireError) -> Document {
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
    guard let updateTime else {
      if mayBeMissing, createTime == nil { return Document(key: key, version: nil, state: .missing) }
      throw WireError("the document \"\(key)\" has no update time")
    }
    let data = DocumentData(encoded: try EncodedFields(document: bytes))
    return Document(key: key, version: updateTime, createTime: createTime, state: .found(data))
  }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.Document`. For a missing document, writes only its name.
  /// - Parameter mask: the fields to send; `nil` to send all fields.
  package mutating func document(_ document: Document, _ names: DocumentNames, mask: FieldMask? = nil) {
    names.write(document.key, as: 1, to: &self)
    guard let data = document.data else { return }
    if let mask { raw(EncodedFields(data.fields.projected(to: mask)).bytes) } else { raw(data.encoded.bytes) }
    if let createTime = document.createTime { field(3, timestamp: createTime.timestamp) }
    if let version = document.version { field(4, timestamp: version.timestamp) }
  }
}
