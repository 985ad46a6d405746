// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import SwiftProtobuf
import Testing

/// That bytes which are written by hand mean what the generated message says: field by field, with nothing besides. Fields may
/// come in another order, and defaults may be written out.
func expectSame<Message: SwiftProtobuf.Message>(
  _ written: [UInt8], _ message: Message, _ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  var options = BinaryEncodingOptions()
  options.useDeterministicOrdering = true
  // As bytes: a NaN is not equal to itself.
  let read: [UInt8] = try Message(serializedBytes: written).serializedBytes(options: options)
  #expect(try read == message.serializedBytes(options: options), comment, sourceLocation: sourceLocation)
}

/// Reads what the generated message writes.
func read<Result>(
  _ message: some SwiftProtobuf.Message, _ body: (inout WireReader) throws(WireError) -> Result
) throws -> Result {
  try WireReader.read(message.serializedBytes(), body)
}
