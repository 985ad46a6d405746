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
  /// Whether it is no request that HTTP/2 allows (RFC 9113, 8.2 and 8.3).
  let isMalformed: Bool

  /// The approximate memory that the head takes.
  let bytes: Int

  fileprivate init(_ headers: HPACKHeaders) {
    self.headers = headers
    bytes = headers.reduce(0) { $0 + 2 * ($1.name.utf8.count + $1.value.utf8.count) + 64 }
    call = CallHeaders(headers)
    objection = call.objection
    promptMethod = objection == nil ? Self.prompt[call.path] : nil
    isMalformed = !headers.isRequest
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
  private static let ofConnections: Set<String> = [
    "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade",
  ]

  /// Whether these may be the head of a request.
  fileprivate var isRequest: Bool {
    var parts: Set<String> = []
    var isPastParts = false
    for (name, value, _) in self {
      if name.utf8.first == UInt8(ascii: ":") {
        guard !isPastParts, parts.insert(name).inserted else { return false }
      } else {
        isPastParts = true
        guard Self.isField(name, value) else { return false }
      }
    }
    let needed: Set = [":method", ":scheme", ":path"]
    return parts.isSuperset(of: needed) && parts.subtracting(needed).isSubset(of: [":authority"])
      && first(name: ":path")?.isEmpty == false
  }

  /// Whether these may stand behind a request.
  var areTrailers: Bool { allSatisfy { $0.name.utf8.first != UInt8(ascii: ":") && Self.isField($0.name, $0.value) } }

  private static func isField(_ name: String, _ value: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !(0x41...0x5a).contains($0) }
      && value.utf8.allSatisfy { $0 != 0 && $0 != 0x0a && $0 != 0x0d } && !ofConnections.contains(name)
      && (name != "te" || value == "trailers")
  }
}
