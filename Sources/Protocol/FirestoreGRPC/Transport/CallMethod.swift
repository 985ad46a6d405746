// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import NIOCore
import NIOHPACK

/// The methods of google.firestore.v1 that a client calls.
package enum CallMethod: String, Sendable, CaseIterable {
  case commit = "Commit"
  case batchGetDocuments = "BatchGetDocuments"
  case runQuery = "RunQuery"
  case runAggregationQuery = "RunAggregationQuery"
  case executePipeline = "ExecutePipeline"
  case listCollectionIDs = "ListCollectionIds"
  case listDocuments = "ListDocuments"
  case listen = "Listen"
  case write = "Write"
  /// A method of the administration's service.
  case listDatabases = "ListDatabases"
  /// A method that only Hearth's servers have.
  case followCommits = "Follow"

  package static let service = "google.firestore.v1.Firestore"

  var path: String {
    switch self {
    case .listDatabases: "/google.firestore.admin.v1.FirestoreAdmin/\(rawValue)"
    case .followCommits: FollowCommits.path
    default: "/\(Self.service)/\(rawValue)"
    }
  }
}

/// The headers that every call to one database carries (PROTOCOL §0, "Request metadata").
struct RequestHeaders: Sendable {
  /// The client's name: `name/version` pairs, informative only.
  static let client = "gl-swift/6 fire/\(Release.version) grpc/2"

  private let database: DatabaseID

  init(database: DatabaseID) { self.database = database }

  /// The names and values. `authorization` is `Bearer …`; `nil` sends the call without credentials.
  private func fields(authorization: String?) -> [(String, String)] {
    [
      ("google-cloud-resource-prefix", database.name),
      ("x-goog-request-params", "database=" + Self.percentEncoded(database.name)),
      ("x-goog-api-client", Self.client),
    ] + (authorization.map { [("authorization", $0)] } ?? [])
  }

  /// The first frame of a call (gRPC over HTTP/2, "Requests").
  /// - Parameter timeout: the time that the caller will wait; at most eight digits of it are sent.
  func call(
    _ method: CallMethod, at endpoint: Endpoint, authorization: String?, timeout: Duration?
  ) -> HPACKHeaders {
    var headers: HPACKHeaders = [
      ":method": "POST", ":scheme": endpoint.isTLS ? "https" : "http", ":path": method.path,
      ":authority": endpoint.authority, "te": "trailers",
    ]
    if let timeout { headers.add(name: "grpc-timeout", value: "\(min(timeout.milliseconds, 99_999_999))m") }
    headers.add(name: "content-type", value: "application/grpc")
    headers.add(name: "user-agent", value: "hearth/\(Release.version)")
    for (name, value) in fields(authorization: authorization) { headers.add(name: name, value: value) }
    return headers
  }

  /// The text with all but RFC 3986's unreserved characters and the slash as `%XX`; routing leaves the slash as it is.
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

extension Duration {
  fileprivate var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension Endpoint {
  /// The endpoint's name in HTTP: without the scheme's own port.
  fileprivate var authority: String {
    if socket != nil { return "localhost" }
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isTLS ? 443 : 80) ? name : "\(name):\(port)"
  }
}
