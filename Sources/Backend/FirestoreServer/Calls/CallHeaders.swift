// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHPACK

/// The headers of a request (gRPC over HTTP/2, "Requests").
package struct CallHeaders {
  package static let root = "/google.firestore.v1.Firestore/"
  /// The root of the same service's former version, with the same messages.
  package static let formerRoot = "/google.firestore.v1beta1.Firestore/"

  private(set) var path = ""
  /// The time that the caller will wait; at most a day, which is longer than any call takes.
  private(set) var timeout: TimeAmount?
  /// The header that identifies the caller.
  private(set) var authorization: String?
  private(set) var contentLength: Int?
  /// Whether the length of the body is a number, if there is one.
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

  /// Whether it is the head of a call, or of a request to a method of Firestore that is meant to be one.
  package var isCall: Bool { isPost && isGRPC || method != nil }

  /// The method's name in the service; `nil` for a method of another service.
  var method: Substring? {
    if path.hasPrefix(Self.root) { return path.dropFirst(Self.root.count) }
    return path.hasPrefix(Self.formerRoot) ? path.dropFirst(Self.formerRoot.count) : nil
  }

  /// The response to a request with a larger list of headers than the server accepts.
  var isTooLarge: HPACKHeaders {
    isGRPC ? GRPCFraming.ending(GRPCFraming.hasLargeHead, hasHeaders: false) : [":status": "431"]
  }

  /// The response to a request that is no call, or is compressed.
  var objection: HPACKHeaders? {
    // Plain HTTP statuses answer requests that are not gRPC. `GET /` asks whether the server is up.
    if isGet, path == "/" { return [":status": "200"] }
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
