// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// How the id of a write request travels: as a label of google.firestore.v1's `WriteRequest`. A backend that knows it
/// recognises a batch that comes again; others ignore it.
extension WriteRequestID {
  package static let labelName = "hearth-write"

  /// Caches make ids of 8 or 16 bytes; nothing longer than this is one.
  private static let longestClientID = 64

  /// - Parameter label: `CLIENT-BATCH`, the client in hexadecimal.
  package init?(label: String) {
    let parts = label.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count <= 2 * Self.longestClientID, let batch = Int64(parts[1]),
      let client = Hexadecimal.bytes(parts[0])
    else { return nil }
    self.init(clientID: client, batchID: BatchID(batch))
  }

  package var label: String { Hexadecimal.text(clientID) + "-\(batchID.rawValue)" }
}
