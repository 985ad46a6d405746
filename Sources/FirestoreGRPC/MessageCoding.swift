// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import GRPCCore

/// Hands gRPC a request that was written before.
struct RequestBytes: MessageSerializer {
  func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }
}

/// Reads an answer in place, in the buffer in which it came.
struct AnswerReader<Answer: Sendable>: MessageDeserializer {
  typealias Read = @Sendable (inout WireReader) throws(WireError) -> Answer

  private let endpoint: String
  private let read: Read

  /// - Parameter endpoint: who is named when an answer cannot be read.
  init(_ endpoint: Endpoint, _ read: @escaping Read) {
    self.endpoint = endpoint.text
    self.read = read
  }

  /// - Throws: `internal`, for bytes that are not such a message. gRPC passes on errors of its own type alone.
  func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Answer {
    let result: Result<Answer, WireError> = bytes.withUnsafeBytes { buffer in
      var reader = WireReader(buffer)
      do throws(WireError) { return .success(try read(&reader)) } catch { return .failure(error) }
    }
    switch result {
    case .success(let answer): return answer
    case .failure(let error):
      throw RPCError(
        code: .internalError, message: "The answer of \(endpoint) cannot be read: \(error.reason).")
    }
  }
}

extension StatusCode {
  init(_ code: RPCError.Code) { self = StatusCode(rawValue: code.rawValue) ?? .unknown }
}

/// The methods of google.firestore.v1 that a client calls.
extension MethodDescriptor {
  package static let commit = MethodDescriptor(firestore: "Commit")
  package static let batchGetDocuments = MethodDescriptor(firestore: "BatchGetDocuments")
  package static let runQuery = MethodDescriptor(firestore: "RunQuery")
  package static let runAggregationQuery = MethodDescriptor(firestore: "RunAggregationQuery")
  package static let listCollectionIDs = MethodDescriptor(firestore: "ListCollectionIds")
  package static let listDocuments = MethodDescriptor(firestore: "ListDocuments")
  package static let listen = MethodDescriptor(firestore: "Listen")
  package static let write = MethodDescriptor(firestore: "Write")

  private init(firestore method: String) {
    self.init(service: ServiceDescriptor(fullyQualifiedService: "google.firestore.v1.Firestore"), method: method)
  }
}

/// The headers that every call carries (PROTOCOL §0, "Request metadata").
package struct RequestHeaders: Sendable {
  /// `name/version` pairs, informative only.
  package static let client = "gl-swift/6 fire/\(Release.version) grpc/2"

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
