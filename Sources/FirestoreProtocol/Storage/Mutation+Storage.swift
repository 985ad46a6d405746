// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

// Mutations are stored as they are sent, but for the names of their documents: a cache belongs to one database.

extension Mutation {
  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.mutation(self, .relative)
    return writer.bytes
  }

  /// - Throws: `data-loss` for bytes that `encoded()` did not write.
  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try decode(bytes, "write") { reader throws(WireError) in try reader.mutation(.relative) }
  }
}

extension MutationBatch {
  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.field(1, integer: id.rawValue)
    writer.field(2, timestamp: localWriteTime)
    for mutation in baseMutations { writer.field(3) { $0.mutation(mutation, .relative) } }
    for mutation in mutations { writer.field(4) { $0.mutation(mutation, .relative) } }
    if let generation { writer.field(5, integer: generation) }
    return writer.bytes
  }

  /// - Throws: `data-loss` for bytes that `encoded()` did not write.
  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try decode(bytes, "batch") { reader throws(WireError) in
      var batch = MutationBatch(id: BatchID(0), localWriteTime: Timestamp(seconds: 0), mutations: [])
      while let tag = try reader.tag() {
        switch (tag.field, tag.type) {
        case (1, .varint): batch.id = BatchID(try reader.integer())
        case (2, .lengthDelimited): batch.localWriteTime = try reader.timestamp()
        case (3, .lengthDelimited):
          var inner = try reader.message()
          batch.baseMutations.append(try inner.mutation(.relative))
        case (4, .lengthDelimited):
          var inner = try reader.message()
          batch.mutations.append(try inner.mutation(.relative))
        case (5, .varint): batch.generation = try reader.integer()
        default: try reader.skip(tag.type)
        }
      }
      return batch
    }
  }
}
