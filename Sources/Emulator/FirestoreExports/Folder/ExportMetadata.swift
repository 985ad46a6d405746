// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The content of `NAME.overall_export_metadata`: two records, of which the first is the version of the layout.
/// ```
/// 1 part { 1 { 1 kinds: 2 for all · 3 namespaces: 3 for all } · 2 file · 3 documents · 4 bytes } …
/// ```
struct OverallMetadata: Hashable {
  static let version: [UInt8] = [UInt8(ascii: "3")]

  /// The documents that were exported together.
  struct Part: Hashable {
    /// The path of the part's own metadata, from the folder of this file.
    var file: String
    var documents: Int
    var bytes: Int
  }

  var parts: [Part]

  /// - Parameter record: the second record of the file.
  init(reading record: [UInt8]) throws(WireError) {
    parts = try WireReader.read(record) { reader throws(WireError) in
      var parts: [Part] = []
      while let tag = try reader.tag() {
        guard tag.field == 1, tag.type == .lengthDelimited else {
          try reader.skipField(tag)
          continue
        }
        var message = try reader.message()
        var part = Part(file: "", documents: 0, bytes: 0)
        while let tag = try message.tag() {
          switch (tag.field, tag.type) {
          case (2, .lengthDelimited): part.file = try message.string()
          case (3, .varint): part.documents = Int(clamping: try message.varint())
          case (4, .varint): part.bytes = Int(clamping: try message.varint())
          default: try message.skipField(tag)
          }
        }
        parts.append(part)
      }
      return parts
    }
  }

  init(_ parts: [Part]) { self.parts = parts }

  var record: [UInt8] {
    WireWriter.message { writer in
      for part in parts {
        writer.field(1) { writer in
          writer.field(1) { writer in
            writer.field(1, varint: 2)
            writer.field(3, varint: 3)
          }
          writer.field(2, string: part.file)
          writer.field(3, integer: Int64(part.documents))
          writer.field(4, integer: Int64(part.bytes))
        }
      }
    }
  }
}

/// The content of a part's own metadata: the files of its documents. It is a message, not a file of records.
/// ```
/// 1 { 1 name · 2 begin, microseconds · 3 end } · 2 { 1 "" · 2 file … } …
/// ```
struct PartMetadata: Hashable {
  var name: String
  var begin: Timestamp
  var end: Timestamp
  /// The paths of the files, from the folder of this file.
  var files: [String]

  init(name: String, begin: Timestamp, end: Timestamp, files: [String]) {
    (self.name, self.begin, self.end, self.files) = (name, begin, end, files)
  }

  init(reading bytes: [UInt8]) throws(WireError) {
    self = try WireReader.read(bytes) { reader throws(WireError) in
      var result = PartMetadata(name: "", begin: Timestamp(seconds: 0), end: Timestamp(seconds: 0), files: [])
      while let tag = try reader.tag() {
        guard tag.type == .lengthDelimited else {
          try reader.skipField(tag)
          continue
        }
        var message = try reader.message()
        while let inner = try message.tag() {
          switch (tag.field, inner.field, inner.type) {
          case (1, 1, .lengthDelimited): result.name = try message.string()
          case (1, 2, .varint): result.begin = Timestamp(microseconds: try message.integer())
          case (1, 3, .varint): result.end = Timestamp(microseconds: try message.integer())
          case (2, 2, .lengthDelimited): result.files.append(try message.string())
          default: try message.skipField(inner)
          }
        }
      }
      return result
    }
  }

  var bytes: [UInt8] {
    WireWriter.message { writer in
      writer.field(1) { writer in
        writer.field(1, string: name)
        writer.field(2, integer: begin.microseconds)
        writer.field(3, integer: end.microseconds)
      }
      writer.field(2) { writer in
        writer.field(1, string: "")
        for file in files { writer.field(2, string: file) }
      }
    }
  }
}
