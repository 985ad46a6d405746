// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// How the id of a write request travels: as a label of google.firestore.v1's `WriteRequest`. A backend that knows it
/// recognises a batch that comes again; others ignore it.
extension WriteRequestID {
  package static let labelName = "hearth-write"

  /// Caches make ids of 8 or 16 bytes; what is longer than this is nobody's id.
  private static let longestClientID = 64

  /// - Parameter label: `CLIENT-BATCH`, the client in hexadecimal.
  package init?(label: String) {
    let parts = label.utf8.split(separator: UInt8(ascii: "-"))
    guard parts.count == 2, parts[0].count.isMultiple(of: 2), parts[0].count <= 2 * Self.longestClientID,
      let batch = Int64(Substring(parts[1]))
    else { return nil }
    var client: [UInt8] = []
    var digits = Substring(parts[0])
    while !digits.isEmpty {
      guard let byte = UInt8(digits.prefix(2), radix: 16) else { return nil }
      client.append(byte)
      digits = digits.dropFirst(2)
    }
    self.init(clientID: client, batchID: BatchID(batch))
  }

  package var label: String {
    clientID.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "-\(batchID.rawValue)"
  }
}
