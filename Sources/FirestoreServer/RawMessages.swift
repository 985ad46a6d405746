// SPDX-License-Identifier: Apache-2.0
import GRPCCore

/// Takes messages as the bytes they are: the service reads them in place.
struct RawDeserializer: MessageDeserializer {
  func deserialize<Bytes: GRPCContiguousBytes>(_ serializedMessageBytes: Bytes) throws -> [UInt8] {
    serializedMessageBytes.withUnsafeBytes { [UInt8]($0) }
  }
}

struct RawSerializer: MessageSerializer {
  func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }
}
