// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import NIOHPACK

/// The methods that a client calls. Unless their comments say otherwise, they belong to google.firestore.v1.
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
  /// A method of the administration service.
  case listDatabases = "ListDatabases"
  /// A method that only Hearth's servers support.
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

/// The part of a call's request headers that differs between calls to one database.
struct RequestHead: Hashable, Sendable {
  var method: CallMethod
  /// The header value `Bearer …`; `nil` to send the call without credentials.
  var authorization: String?
  var appCheck: String?
  /// The time after which the call fails, which is also sent to the backend. `nil` for no deadline.
  var timeout: Duration?
}

/// The request headers that calls to one database have (PROTOCOL §0, "Request metadata").
struct RequestHeads: Sendable {
  /// The client's name and version as `name/version` pairs. Servers use it only for information.
  static let client = "gl-swift/6 fire/\(Release.version) grpc/2"

  private let database: DatabaseID
  private let endpoint: Endpoint

  init(database: DatabaseID, at endpoint: Endpoint) { (self.database, self.endpoint) = (database, endpoint) }

  /// The first frame of a call (gRPC over HTTP/2, "Requests"). A timeout has at most eight digits.
  func headers(of head: RequestHead) -> HPACKHeaders {
    var headers: HPACKHeaders = [
      ":method": "POST", ":scheme": endpoint.isTLS ? "https" : "http", ":path": head.method.path,
      ":authority": endpoint.authority, "te": "trailers",
    ]
    if let timeout = head.timeout {
      headers.add(name: "grpc-timeout", value: "\(min(timeout.milliseconds, 99_999_999))m")
    }
    headers.add(name: "content-type", value: "application/grpc")
    headers.add(name: "user-agent", value: "hearth/\(Release.version)")
    headers.add(name: "google-cloud-resource-prefix", value: database.name)
    headers.add(name: "x-goog-request-params", value: "database=" + Self.percentEncoded(database.name))
    headers.add(name: "x-goog-api-client", value: Self.client)
    if let authorization = head.authorization { headers.add(name: "authorization", value: authorization) }
    if let appCheck = head.appCheck { headers.add(name: "x-firebase-appcheck", value: appCheck) }
    return headers
  }

  /// Encodes all characters as `%XX` except RFC 3986's unreserved characters and the slash, which remain unchanged in
  /// routing headers.
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
  /// The authority of the endpoint in HTTP. Omits the port if it is the scheme's default.
  fileprivate var authority: String {
    if socket != nil { return "localhost" }
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isTLS ? 443 : 80) ? name : "\(name):\(port)"
  }
}
