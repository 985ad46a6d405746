// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import NIOCore
package import NIOHPACK
import NIOHTTP2

/// The form of calls on HTTP/2 (gRPC over HTTP/2):
/// ```
/// request    HEADERS   (DATA: 0 ‖ length, 4 bytes ‖ message) …
/// response   HEADERS   (DATA: 0 ‖ length, 4 bytes ‖ message) …   HEADERS: grpc-status
/// ```
package enum GRPCFraming {
  static let prefixLength = 5
  package static let headers: HPACKHeaders = [":status": "200", "content-type": "application/grpc"]
  private static let success: HPACKHeaders = ["grpc-status": "0"]

  static let isCompressed = RPCStatus(.unimplemented, "Compressed messages are not supported.")

  package static let isShuttingDown = RPCStatus(.unavailable, "The server is shutting down.")
  static let isOverdue = RPCStatus(.deadlineExceeded, "The call took longer than its caller would wait.")

  static func isTooLarge(_ length: Int, limit: Int) -> RPCStatus {
    // The code and the words are those of Cloud Firestore.
    RPCStatus(.invalidArgument, "Request payload size exceeds the limit: \(limit) bytes. This one has \(length).")
  }

  /// The message whose prefix and bytes come next, once it is there as a whole.
  /// - Parameter limit: the most bytes of a message.
  static func nextMessage(_ buffer: inout ByteBuffer, limit: Int) throws(RPCStatus) -> [UInt8]? {
    guard let flag = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self),
      let length = buffer.getInteger(at: buffer.readerIndex + 1, as: UInt32.self)
    else { return nil }
    if flag != 0 { throw isCompressed }
    if length > limit { throw isTooLarge(Int(length), limit: limit) }
    guard buffer.readableBytes >= prefixLength + Int(length) else { return nil }
    buffer.moveReaderIndex(forwardBy: prefixLength)
    return buffer.readBytes(length: Int(length))
  }

  static func data(_ messages: [[UInt8]], _ allocator: ByteBufferAllocator) -> HTTP2Frame.FramePayload {
    var buffer = allocator.buffer(capacity: messages.reduce(0) { $0 + $1.count + prefixLength })
    for message in messages {
      buffer.writeInteger(0 as UInt8)
      buffer.writeInteger(UInt32(message.count))
      buffer.writeBytes(message)
    }
    return .data(.init(data: .byteBuffer(buffer)))
  }

  /// The end of a response.
  /// - Parameters:
  ///   - status: `nil` for success.
  ///   - hasHeaders: whether headers were sent.
  static func end(_ status: RPCStatus?, hasHeaders: Bool) -> HTTP2Frame.FramePayload {
    .headers(.init(headers: status.map { ending($0, hasHeaders: hasHeaders) } ?? success, endStream: true))
  }

  /// The end of a response, and word to a client that is still sending that no more is wanted; this is no error of the
  /// answered call.
  static func last(_ end: HTTP2Frame.FramePayload, isRequestWhole: Bool) -> [HTTP2Frame.FramePayload] {
    isRequestWhole ? [end] : [end, .rstStream(.noError)]
  }

  /// The headers that end a response with a status.
  package static func ending(_ status: RPCStatus, hasHeaders: Bool) -> HPACKHeaders {
    var trailers = hasHeaders ? HPACKHeaders() : headers
    trailers.add(name: "grpc-status", value: "\(status.code.rawValue)")
    trailers.add(name: "grpc-message", value: percentEncoded(status.message))
    return trailers
  }

  /// The text in the encoding of `grpc-message`.
  static func percentEncoded(_ text: String) -> String {
    let isPlain = { (byte: UInt8) in (0x20...0x7e).contains(byte) && byte != UInt8(ascii: "%") }
    if text.utf8.allSatisfy(isPlain) { return text }
    var result = ""
    for byte in text.utf8 {
      if isPlain(byte) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += digits.count == 1 ? "%0" + digits : "%" + digits
      }
    }
    return result
  }
}

extension HPACKHeaders {
  /// The header `authorization`, which identifies the caller.
  var authorization: String? { first(name: "authorization") }
}

/// The headers of a request (gRPC over HTTP/2, "Requests").
package struct CallHeaders {
  package static let root = "/google.firestore.v1.Firestore/"
  /// The root of the same service's former version, with the same messages.
  package static let formerRoot = "/google.firestore.v1beta1.Firestore/"

  private(set) var path = ""
  /// The time that the caller will wait; at most a day, which is longer than any call takes.
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

  /// The method's name in the service; `nil` for a method of another service.
  var method: Substring? {
    if path.hasPrefix(Self.root) { return path.dropFirst(Self.root.count) }
    return path.hasPrefix(Self.formerRoot) ? path.dropFirst(Self.formerRoot.count) : nil
  }

  /// The response to a request that is no call, or is compressed.
  var objection: HTTP2Frame.FramePayload? {
    // Plain HTTP statuses answer requests that are not gRPC. `GET /` asks whether the server is up.
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

  /// Reads at most eight digits and a unit; `nil` for any other text.
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
