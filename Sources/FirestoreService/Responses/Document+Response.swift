// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension WireWriter {
  /// The content of a `google.firestore.v1.Document` that exists. Its fields are stored as wire bytes and go out as
  /// they are, unless a mask picks some.
  mutating func document(_ document: Document, in database: DatabaseID, mask: FieldMask? = nil) {
    field(1, string: database.name(of: document.key))
    if let data = document.data {
      if let mask { raw(EncodedFields(data.fields.projected(to: mask)).bytes) } else { raw(data.encoded.bytes) }
    }
    if let created = document.createTime { field(3, timestamp: created.timestamp) }
    if let version = document.version { field(4, timestamp: version.timestamp) }
  }

  /// A field that holds a value.
  mutating func field(_ number: Int, value: Value) { field(number) { $0.value(value) } }

  mutating func status(_ number: Int, _ status: RPCStatus) {
    field(number) { writer in
      writer.field(1, varint: UInt64(status.code.rawValue))
      writer.field(2, string: status.message)
    }
  }

  /// One field per result: `google.firestore.v1.WriteResult`.
  mutating func writeResult(_ number: Int, _ result: MutationResult, of mutation: Mutation) {
    field(number) { writer in
      // A delete has no version.
      if mutation.operation != .delete { writer.field(1, timestamp: result.version.timestamp) }
      for value in result.transformResults { writer.field(2, value: value) }
    }
  }
}

extension Fields {
  /// The fields at the mask's paths, with the maps on the way to them; paths that name nothing add nothing.
  func projected(to mask: FieldMask) -> Fields {
    var result = Fields()
    for path in mask.paths.sorted() {
      if let value = self[path] { result[path] = value }
    }
    return result
  }
}

/// Builds one message.
func message(_ write: (inout WireWriter) -> Void) -> [UInt8] {
  var writer = WireWriter()
  write(&writer)
  return writer.bytes
}
