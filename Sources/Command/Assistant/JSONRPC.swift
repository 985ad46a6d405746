// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON

/// A JSON-RPC 2.0 message that a client sent.
struct JSONRPCMessage: Sendable {
  /// The id of a request: a text or an integer; `nil` for a notification.
  let id: JSONSyntax?
  let method: String
  let params: JSONSyntax?

  /// - Throws: `JSONRPCError` for a value that is not a valid request. The error contains the request's id if it has
  ///   one.
  init(_ syntax: JSONSyntax) throws(JSONRPCError) {
    var id: JSONSyntax?
    switch syntax["id"]?.kind {
    case nil: break
    case .string?, .integer?: id = syntax["id"]
    default: throw JSONRPCError(.invalidRequest, "\"id\" must be a string or an integer.")
    }
    guard case .string("2.0")? = syntax["jsonrpc"]?.kind, case .string(let method)? = syntax["method"]?.kind else {
      throw JSONRPCError(.invalidRequest, "A message needs \"jsonrpc\": \"2.0\" and a \"method\".", id: id)
    }
    let params = syntax["params"]
    switch params?.kind {
    case nil, .object?: break
    default: throw JSONRPCError(.invalidParams, "\"params\" must be an object.", id: id)
    }
    (self.id, self.method, self.params) = (id, method, params)
  }

  /// Whether a value is a response. This server sends no requests, so it ignores responses.
  static func isAnswer(_ syntax: JSONSyntax) -> Bool {
    syntax["method"] == nil && (syntax["result"] != nil || syntax["error"] != nil)
  }
}

struct JSONRPCError: Error, Sendable {
  enum Code: Int64, Sendable {
    case parseError = -32_700
    case invalidRequest = -32_600
    case methodNotFound = -32_601
    case invalidParams = -32_602
    /// The queue of waiting requests is full.
    case busy = -32_000
    /// The Model Context Protocol's code for an unknown resource.
    case resourceNotFound = -32_002
  }

  var code: Code
  var message: String
  /// The id of the request; `nil` if it is unknown.
  var id: JSONSyntax?

  init(_ code: Code, _ message: String, id: JSONSyntax? = nil) {
    (self.code, self.message, self.id) = (code, message, id)
  }

  var answer: JSONSyntax {
    [
      "jsonrpc": "2.0", "id": id ?? nil,
      "error": ["code": JSONSyntax(.integer(code.rawValue)), "message": .text(message)],
    ]
  }
}

extension JSONSyntax: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral text: String) { self.init(.string(text)) }
  package init(booleanLiteral value: Bool) { self.init(.boolean(value)) }
  package init(nilLiteral: ()) { self.init(.null) }
  package init(arrayLiteral elements: JSONSyntax...) { self.init(.array(elements)) }
  package init(dictionaryLiteral elements: (String, JSONSyntax)...) { self = .object(elements) }

  /// The text of a string; `nil` for other values.
  var stringValue: String? { if case .string(let text) = kind { text } else { nil } }

  static func text(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }
  static func number(_ number: Int) -> JSONSyntax { JSONSyntax(.integer(Int64(number))) }
  static func flag(_ value: Bool) -> JSONSyntax { JSONSyntax(.boolean(value)) }
  static func array(_ elements: [JSONSyntax]) -> JSONSyntax { JSONSyntax(.array(elements)) }
  static func object(_ members: [(String, JSONSyntax)]) -> JSONSyntax {
    JSONSyntax(.object(members.map { Member($0.0, $0.1) }))
  }
}
