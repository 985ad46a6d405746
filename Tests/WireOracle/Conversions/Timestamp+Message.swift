// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import SwiftProtobuf

extension Timestamp {
  package var message: Google_Protobuf_Timestamp { Google_Protobuf_Timestamp(seconds: seconds, nanos: nanoseconds) }
}

extension SnapshotVersion {
  package var message: Google_Protobuf_Timestamp { timestamp.message }
}
