// SPDX-License-Identifier: Apache-2.0
import FirestoreService
import HTTP2Frames
import NIOCore
package import NIOHPACK

/// The headers of a request (gRPC over HTTP/2, "Requests").
package struct CallHeaders {
  package static let root = "/google.firestore.v1.Firestore/"
  /// The path prefix of the service's previous version, which has the same messages.
  package static let formerRoot = "/google.firestore.v1beta1.Firestore/"

  private(set) var path = ""
  /// The caller's timeout, reduced to a day if it is longer.
  private(set) var timeout: TimeAmount?
  /// The header that identifies the caller.
  private(set) var authorization: String?
  private(set) var contentLength: Int?
  /// Whether the content length is valid: false if it is present but not a number.
  private(set) var hasValidLength = true
  private var isPost = false
  private var isGet = false
  private var isGRPC = false
  private var isCompressed = false

  init(_ headers: HPACKHeaders) {
    for (name, value, _) in headers {
      switch name {
      case ":path": path = value
      case ":method": (isPost, isGet) = (value == "POST", value == "GET")
      case "content-type":
        isGRPC =
          value == "application/grpc" || value.hasPrefix("application/grpc+") || value.hasPrefix("application/grpc;")
      case "authorization": authorization = authorization ?? value
      case "content-length":
        contentLength = Self.length(value)
        hasValidLength = contentLength != nil
      case "grpc-encoding": isCompressed = value != "identity"
      case "grpc-timeout": timeout = Self.timeout(value)
      default: break
      }
    }
  }

  /// Whether this is the head of a gRPC call. A request to a Firestore method is always treated as a call, even if it
  /// is not valid gRPC.
  package var isCall: Bool { isPost && isGRPC || method != nil }

  /// The name of the Firestore method; `nil` for another service.
  var method: Substring? {
    if path.hasPrefix(Self.root) { return path.dropFirst(Self.root.count) }
    return path.hasPrefix(Self.formerRoot) ? path.dropFirst(Self.formerRoot.count) : nil
  }

  /// The response to a request whose header list is larger than the server accepts.
  var isTooLarge: HPACKHeaders {
    isGRPC ? GRPCFraming.ending(GRPCFraming.hasLargeHead, hasHeaders: false) : [":status": "431"]
  }

  /// The response to a request that is not a gRPC call, or that is compressed.
  var objection: HPACKHeaders? {
    // Requests that are not gRPC calls get plain HTTP responses. `GET /` checks whether the server is up.
    if isGet, path == "/" || path == "/health" { return [":status": "200"] }
    if !isPost { return [":status": "405", "allow": "POST"] }
    if !isGRPC { return [":status": "415"] }
    guard isCompressed else { return nil }
    var headers = GRPCFraming.ending(GRPCFraming.isCompressed, hasHeaders: false)
    headers.add(name: "grpc-accept-encoding", value: "identity")
    return headers
  }

  private static func length(_ text: String) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }

  /// Reads at most eight digits and a unit; `nil` for any other text.
  private static func timeout(_ text: String) -> TimeAmount? {
    guard let unit = text.last, text.utf8.count <= 9, let number = Int64(text.dropLast()), text.utf8.first != 0x2b,
      number >= 0
    else {
      return nil
    }
    let time: TimeAmount? =
      switch unit {
      case "H": .hours(min(number, 24))
      case "M": .minutes(min(number, 24 * 60))
      case "S": .seconds(number)
      case "m": .milliseconds(number)
      case "u": .microseconds(number)
      case "n": .nanoseconds(number)
      default: nil
      }
    return time.map { min($0, .hours(24)) }
  }
}

/// The parsed head of a request. All requests of a connection with equal heads share it.
package final class CallHead {
  private static let prompt = Dictionary(
    uniqueKeysWithValues: FirestoreService.Method.allCases.filter(\.isPrompt).map {
      (CallHeaders.root + $0.rawValue, $0)
    })

  package let headers: HPACKHeaders
  package let call: CallHeaders
  /// The response to a request that is not a gRPC call; `nil` for a call.
  let objection: HPACKHeaders?
  /// The method, if one backend step can answer most of its requests; `nil` for other methods and for compressed calls.
  let promptMethod: FirestoreService.Method?
  /// Whether the request violates HTTP/2 (RFC 9113, 8.2 and 8.3).
  let isMalformed: Bool
  /// Whether the header list is larger than the server accepts.
  let isTooLarge: Bool

  /// The approximate memory of the head in bytes.
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

  /// Whether these headers form a valid head of a request.
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

  /// Whether these headers are valid after the body of a request.
  var areTrailers: Bool { areFields(pseudoHeaders: []) }
}
