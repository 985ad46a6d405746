// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import SwiftProtobuf

extension Timestamp {
  /// - Throws: `invalid-argument` for nanoseconds outside 0…999 999 999.
  package init(_ message: Google_Protobuf_Timestamp) throws(ModelError) {
    guard (0..<1_000_000_000).contains(message.nanos) else {
      throw ModelError("A timestamp has \(message.nanos) nanoseconds; they lie between 0 and 999999999.")
    }
    self.init(seconds: message.seconds, nanoseconds: message.nanos)
  }

  package var message: Google_Protobuf_Timestamp {
    Google_Protobuf_Timestamp(seconds: seconds, nanos: nanoseconds)
  }
}

extension SnapshotVersion {
  package init(_ message: Google_Protobuf_Timestamp) throws(ModelError) { self.init(try Timestamp(message)) }
  package var message: Google_Protobuf_Timestamp { timestamp.message }
}
