// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension WireReader {
  /// The content of a `google.rpc.Status`; `nil` for OK. A number that is no code counts as `unknown`.
  mutating func status() throws(WireError) -> RPCStatus? {
    var code = 0
    var text = ""
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): code = Int(truncatingIfNeeded: try varint())
      case (2, .lengthDelimited): text = try string()
      default: try skip(tag.type)
      }
    }
    return code == 0 ? nil : RPCStatus(StatusCode(rawValue: code) ?? .unknown, text)
  }
}

extension WireWriter {
  /// A field with a `google.rpc.Status`.
  package mutating func status(_ number: Int, _ status: RPCStatus) {
    field(number) { writer in
      if status.code != .ok { writer.field(1, varint: UInt64(status.code.rawValue)) }
      if !status.message.isEmpty { writer.field(2, string: status.message) }
    }
  }
}
