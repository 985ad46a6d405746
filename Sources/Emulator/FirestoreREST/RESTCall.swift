// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
import FirestoreProtoJSON
package import FirestoreService

/// Converts a request of Firestore's REST API (v1, and v1beta1 as an alias) to a call of the service, and the responses
/// to JSON.
///
/// ```
/// GET     …/documents/c/a     GetDocument        POST  …/documents:commit, :batchGet, :batchWrite, :beginTransaction,
/// GET     …/documents/c       ListDocuments              :rollback
/// POST    …/documents/c       CreateDocument     POST  …/documents[/c/a]:runQuery, :runAggregationQuery,
/// PATCH   …/documents/c/a     UpdateDocument             :partitionQuery, :listCollectionIds
/// DELETE  …/documents/c/a     DeleteDocument
/// ```
package struct RESTCall: Sendable {
  private static let roots = ["/v1/", "/v1beta1/"]

  /// The path prefix of a REST target; `nil` for other targets.
  package static func root(of target: String) -> String? { roots.first { target.hasPrefix($0) } }

  package let method: FirestoreService.Method
  /// The request in the service's format.
  package let message: [UInt8]
  private let isPretty: Bool

  /// - Parameters:
  ///   - verb: the HTTP method.
  ///   - target: the target from its first slash, including the query.
  ///   - body: JSON, or empty.
  /// - Throws: `not-found` for an unknown target, `unimplemented` for an unsupported method, and `invalid-argument` for
  ///   an invalid body.
  package init(_ verb: String, _ target: String, body: [UInt8]) throws(RPCStatus) {
    let address = RESTAddress(target)
    guard let route = RESTRoute(verb, address.segments) else {
      throw RPCStatus(.notFound, "Unknown request \(verb) \(target.shortened).")
    }
    if let objection = address.objection { throw objection }
    guard let method = route.method else {
      throw RPCStatus(.unimplemented, "\(route.custom ?? "The method") is not served over REST.")
    }
    self.method = method
    isPretty = address.isPretty
    var writer = WireWriter()
    let schema = method.request
    writer.raw(try MessageReader.bytes(of: address.fields, schema, .texts))
    if let field = route.bodyField {
      var document = WireWriter()
      document.raw(try MessageReader.bytes(of: try JSONSyntax(payload: body), Schema.document, root: "document"))
      if let name = route.documentName { document.field(1, string: name) }
      writer.field(field, bytes: document.bytes)
    } else if verb == "POST" {
      // Web SDKs of 2018 and 2019 send commits of transactions with times in WebChannel's format.
      let dialect = method == .commit ? MessageReader.Dialect.spelledOut : .strict
      writer.raw(try MessageReader.bytes(of: try JSONSyntax(payload: body), schema, dialect))
    }
    // The last occurrence of a field wins, so the target takes precedence over the body.
    for (number, text) in route.fields { writer.field(number, string: text) }
    message = writer.bytes
  }

  // MARK: The answer

  /// Whether the response is an array of messages, each written when it arrives.
  package var isStream: Bool { method.isStream }

  /// Encodes messages as a part of the response body.
  /// - Parameters:
  ///   - messages: the service's messages, in order.
  ///   - isFirst: whether this is the first part of a stream.
  package func text(of messages: [[UInt8]], isFirst: Bool) throws(RPCStatus) -> [UInt8] {
    var result: [UInt8] = []
    for (index, message) in messages.enumerated() {
      if isStream { result += isFirst && index == 0 ? Array("[".utf8) : Self.separator }
      do throws(WireError) {
        result += try MessageWriter.text(of: message, method.response, isPretty: isPretty)
      } catch { throw RPCStatus(.internal, "The response cannot be written as JSON: \(error.reason).") }
    }
    if !isStream { result.append(0x0A) }
    return result
  }

  /// The last part of a stream's body.
  /// - Parameter isFirst: whether this is also the first part.
  package func end(isFirst: Bool) -> [UInt8] { Array((isFirst ? "[]\n" : "]\n").utf8) }

  /// The last part of a stream's body that ends with an error.
  package static func end(with status: RPCStatus, to target: String) -> [UInt8] {
    separator + text(of: status, to: target) + Array("]\n".utf8)
  }

  private static let separator = Array(",\n".utf8)

  /// A status as the body of a response.
  /// - Parameters:
  ///   - target: the target of the request.
  ///   - code: the HTTP status, if it differs from the code's default.
  package static func text(of status: RPCStatus, to target: String, code: Int? = nil) -> [UInt8] {
    status.json(code ?? status.code.httpStatus, isPretty: RESTAddress(target).isPretty) + [0x0A]
  }
}

extension JSONSyntax {
  /// Parses the JSON of a client. An empty text is an object without members.
  /// - Throws: `invalid-argument`.
  init(payload: [UInt8]) throws(RPCStatus) {
    if payload.allSatisfy({ $0 <= 0x20 }) {
      self.init(.object([]))
      return
    }
    guard let text = String(validating: payload, as: UTF8.self) else {
      throw .invalid("Invalid JSON payload received. The body is not UTF-8.")
    }
    do throws(JSONError) { try self.init(parsing: text, numbers: .ofAnySize) } catch {
      throw .invalid("Invalid JSON payload received. Line \(error.line), column \(error.column): \(error.reason)")
    }
  }
}

extension RPCStatus {
  /// The error as JSON: `{"error": {"code": 404, "message": "…", "status": "NOT_FOUND"}}`.
  func json(_ httpStatus: Int, isPretty: Bool) -> [UInt8] {
    var text = JSONText(isPretty: isPretty)
    text.open("{")
    text.name("error")
    text.open("{")
    text.name("code")
    text.raw(String(httpStatus))
    text.name("message")
    text.string(message)
    text.name("status")
    text.string(code.rpcName)
    text.close("}")
    text.close("}")
    return text.bytes
  }
}

extension StatusCode {
  /// The code's name in RPC, for example `NOT_FOUND`.
  var rpcName: String { name.uppercased().split(separator: "-").joined(separator: "_") }

  /// The HTTP status for the code (google/rpc/code.proto).
  package var httpStatus: Int {
    switch self {
    case .ok: 200
    case .invalidArgument, .failedPrecondition, .outOfRange: 400
    case .unauthenticated: 401
    case .permissionDenied: 403
    case .notFound: 404
    case .alreadyExists, .aborted: 409
    case .resourceExhausted: 429
    case .cancelled: 499
    case .unknown, .internal, .dataLoss: 500
    case .unimplemented: 501
    case .unavailable: 503
    case .deadlineExceeded: 504
    }
  }
}

/// The bidirectional streams. Converts their messages from and to the JSON that browsers use.
package enum StreamMethod: String, Sendable, CaseIterable {
  case listen = "Listen"
  case write = "Write"

  /// The request in the service's format.
  /// - Parameter json: one message.
  /// - Throws: `invalid-argument`.
  package func request(_ json: [UInt8]) throws(RPCStatus) -> [UInt8] {
    try MessageReader.bytes(
      of: try JSONSyntax(payload: json), self == .listen ? Schema.listenRequest : Schema.writeRequest, .spelledOut)
  }

  /// A message of the service as JSON, on one line.
  package func response(_ message: [UInt8]) throws(RPCStatus) -> [UInt8] {
    do throws(WireError) {
      let schema = self == .listen ? Schema.listenResponse : Schema.writeResponse
      return try MessageWriter.text(of: message, schema, isPretty: false)
    } catch { throw RPCStatus(.internal, "The response cannot be written as JSON: \(error.reason).") }
  }

  /// The last message of a stream that ends with an error. As in the emulator, its text begins with the status.
  package static func end(with status: RPCStatus) -> [UInt8] {
    RPCStatus(status.code, "\(status.code.rpcName): \(status.message)").json(status.code.httpStatus, isPretty: false)
  }
}
