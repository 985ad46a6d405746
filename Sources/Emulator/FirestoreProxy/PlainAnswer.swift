// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreServer
import NIOCore
import NIOHPACK
import NIOHTTP1

/// A response by the proxy to a request that is not gRPC: an HTTP status, and the error as JSON in the format of REST.
enum PlainAnswer {
  private static let type = "application/json; charset=utf-8"

  static func body(_ status: RPCStatus) -> ByteBuffer { ByteBuffer(bytes: RESTCall.text(of: status, to: "/")) }

  static func http2(_ status: RPCStatus) -> (HPACKHeaders, ByteBuffer) {
    ([":status": "\(status.code.httpStatus)", "content-type": type, "access-control-allow-origin": "*"], body(status))
  }

  /// A WebChannel response.
  static func channel(_ text: [UInt8], _ version: HTTPVersion) -> (HTTPResponseHead, ByteBuffer) {
    let headers: HTTPHeaders = [
      "content-type": "text/plain; charset=utf-8", "content-length": "\(text.count)",
      "access-control-allow-origin": "*",
    ]
    return (HTTPResponseHead(version: version, status: .ok, headers: headers), ByteBuffer(bytes: text))
  }

  static func http1(_ status: RPCStatus, _ version: HTTPVersion) -> (HTTPResponseHead, ByteBuffer) {
    let body = body(status)
    let headers: HTTPHeaders = [
      "content-type": type, "content-length": "\(body.readableBytes)", "access-control-allow-origin": "*",
    ]
    let head = HTTPResponseHead(
      version: version, status: HTTPResponseStatus(statusCode: status.code.httpStatus), headers: headers)
    return (head, body)
  }
}

extension RPCStatus {
  /// Reads the status in the trailers of a call; `nil` if there is none.
  init?(trailers: HPACKHeaders) {
    guard let number = trailers.first(name: "grpc-status").flatMap({ Int($0) }) else { return nil }
    self.init(StatusCode(rawValue: number) ?? .unknown, trailers.first(name: "grpc-message") ?? "")
  }
}
