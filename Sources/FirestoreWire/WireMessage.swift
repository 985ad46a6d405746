// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import GRPCCore

/// A message that gRPC hands over as it is on the wire, read by `Reader`.
package struct WireDecoder<Message: Sendable>: MessageDeserializer {
  private let read: @Sendable (inout WireReader) throws(WireError) -> Message

  package init(_ read: @escaping @Sendable (inout WireReader) throws(WireError) -> Message) { self.read = read }

  /// - Throws: `internal`, for bytes that are not such a message.
  package func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Message {
    let result: Result<Message, WireError> = bytes.withUnsafeBytes { buffer in
      var reader = WireReader(buffer)
      do throws(WireError) { return .success(try read(&reader)) } catch { return .failure(error) }
    }
    switch result {
    case .success(let message): return message
    case .failure(let error):
      throw RPCError(code: .internalError, message: "A message cannot be read: \(error.reason).")
    }
  }
}

/// A message that is written by hand.
package struct WireEncoder<Message: Sendable>: MessageSerializer {
  private let write: @Sendable (Message, inout WireWriter) -> Void

  package init(_ write: @escaping @Sendable (Message, inout WireWriter) -> Void) { self.write = write }

  package func serialize<Bytes: GRPCContiguousBytes>(_ message: Message) throws -> Bytes {
    var writer = WireWriter()
    write(message, &writer)
    return Bytes(writer.bytes)
  }
}
