// SPDX-License-Identifier: Apache-2.0
import FirestoreService
import HTTP2Frames
package import NIOHPACK

/// The head of a request, with what it means; once for all requests of a connection that say the same.
package final class CallHead {
  private static let prompt = Dictionary(
    uniqueKeysWithValues: FirestoreService.Method.allCases.filter(\.isPrompt).map {
      (CallHeaders.root + $0.rawValue, $0)
    })

  package let headers: HPACKHeaders
  package let call: CallHeaders
  /// The response to a request that is no call; `nil` for a call.
  let objection: HPACKHeaders?
  /// The method, if one step of the backend answers most of its requests; `nil` for others, also for compressed calls.
  let promptMethod: FirestoreService.Method?
  /// Whether HTTP/2 does not allow the request (RFC 9113, 8.2 and 8.3).
  let isMalformed: Bool
  /// Whether the list of headers is larger than the server accepts.
  let isTooLarge: Bool

  /// The approximate memory that the head takes.
  let bytes: Int

  fileprivate init(_ headers: HPACKHeaders) {
    self.headers = headers
    bytes = headers.reduce(0) { $0 + 2 * ($1.name.utf8.count + $1.value.utf8.count) + 64 }
    call = CallHeaders(headers)
    objection = call.objection
    promptMethod = objection == nil ? Self.prompt[call.path] : nil
    isMalformed = !headers.isRequest || !call.hasValidLength
    isTooLarge = headers.listSize > ConnectionLimits.headBytes
  }
}

extension HeaderBlock {
  var call: CallHead {
    if let meaning = meaning as? CallHead { return meaning }
    let fresh = CallHead(headers)
    meaning = fresh
    return fresh
  }
}

extension HPACKHeaders {
  private static let pseudoHeaders: Set = [":method", ":scheme", ":path", ":authority"]

  /// Whether these may be the head of a request.
  fileprivate var isRequest: Bool {
    guard areFields(pseudoHeaders: Self.pseudoHeaders), let method = first(name: ":method"),
      let path = first(name: ":path"), let scheme = first(name: ":scheme"), !scheme.isEmpty
    else { return false }
    let authorities = self[":authority"] + self["host"]
    let authority = authorities.first?.lowercased()
    return !method.isEmpty && method.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
      && (path.utf8.first == UInt8(ascii: "/") || path == "*" && method == "OPTIONS")
      && path.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
      && authorities.allSatisfy { $0.lowercased() == authority && !$0.utf8.contains(UInt8(ascii: "@")) }
      && Set(self["content-length"]).count <= 1
  }

  /// Whether these may follow the body of a request.
  var areTrailers: Bool { areFields(pseudoHeaders: []) }
}
