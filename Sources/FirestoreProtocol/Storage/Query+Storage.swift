// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

// Queries and targets are stored as a relative path beside a `google.firestore.v1.StructuredQuery`.

extension Query {
  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.field(1, string: path.text)
    writer.field(2) { $0.structuredQuery(self) }
    if limitType == .last { writer.field(3, boolean: true) }
    return writer.bytes
  }

  /// - Throws: `data-loss` for bytes that `encoded()` did not write.
  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try decode(bytes, "query") { reader throws(WireError) in
      var query = Query(path: .root)
      var limitType = LimitType.first
      var path = ResourcePath.root
      while let tag = try reader.tag() {
        switch (tag.field, tag.type) {
        case (1, .lengthDelimited): path = ResourcePath(try reader.string())
        case (2, .lengthDelimited):
          var inner = try reader.message()
          query = try inner.structuredQuery()
        case (3, .varint): limitType = try reader.boolean() ? .last : .first
        default: try reader.skip(tag.type)
        }
      }
      query.path = path
      query.limitType = limitType
      return query
    }
  }
}

extension Target {
  package func encoded() -> [UInt8] { query.encoded() }

  /// - Throws: `data-loss` for bytes that `encoded()` did not write.
  package init(decoding bytes: [UInt8]) throws(ModelError) { self = try Query(decoding: bytes).target }
}
