// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import GRPCCore

/// The headers that every call carries (PROTOCOL §0, "Request metadata").
package struct RequestHeaders: Sendable {
  /// `name/version` pairs, informative only.
  package static let client = "gl-swift/6 fire/0.1.0 grpc/2"

  package let database: DatabaseID

  package init(database: DatabaseID) { self.database = database }

  /// - Parameter authorization: `Bearer …`; `nil` sends the call without credentials.
  package func metadata(authorization: String?) -> Metadata {
    var metadata: Metadata = [
      "google-cloud-resource-prefix": .string(database.name),
      "x-goog-request-params": .string("database=" + Self.percentEncoded(database.name)),
      "x-goog-api-client": .string(Self.client),
    ]
    if let authorization { metadata.addString(authorization, forKey: "authorization") }
    return metadata
  }

  /// All but RFC 3986's unreserved characters and the slash, which routing leaves as it is.
  static func percentEncoded(_ text: String) -> String {
    let digits = [UInt8]("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, 45, 46, 47, 95, 126: encoded.append(byte)
      default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
