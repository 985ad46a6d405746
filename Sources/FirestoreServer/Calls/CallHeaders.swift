// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOHPACK
import NIOHTTP2

/// What the headers of a request say (gRPC over HTTP/2, "Requests").
struct CallHeaders {
  static let root = "/google.firestore.v1.Firestore/"

  private(set) var path = ""
  /// How long the caller will wait; at most a day, which is longer than any call takes.
  private(set) var timeout: TimeAmount?
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
      case "grpc-encoding": isCompressed = value != "identity"
      case "grpc-timeout": timeout = Self.timeout(value)
      default: break
      }
    }
  }

  /// The method's name in the service; `nil` for one of another service.
  var method: Substring? { path.hasPrefix(Self.root) ? path.dropFirst(Self.root.count) : nil }

  /// The response to a request that is no call, or is compressed.
  var objection: HTTP2Frame.FramePayload? {
    // What is not gRPC gets plain HTTP statuses. `GET /` asks whether the server is up.
    if isGet, path == "/" { return Self.response([":status": "200"]) }
    if !isPost { return Self.response([":status": "405", "allow": "POST"]) }
    if !isGRPC { return Self.response([":status": "415"]) }
    guard isCompressed else { return nil }
    var headers = GRPCFraming.ending(GRPCFraming.isCompressed, hasHeaders: false)
    headers.add(name: "grpc-accept-encoding", value: "identity")
    return Self.response(headers)
  }

  private static func response(_ headers: HPACKHeaders) -> HTTP2Frame.FramePayload {
    .headers(.init(headers: headers, endStream: true))
  }

  /// At most eight digits and a unit; `nil` for what is none.
  private static func timeout(_ text: String) -> TimeAmount? {
    guard let unit = text.last, text.utf8.count <= 9, let number = Int64(text.dropLast()), number >= 0 else {
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
