// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOHPACK
import NIOHTTP2

/// How calls look on HTTP/2 (gRPC over HTTP/2):
/// ```
/// request    HEADERS   (DATA: 0 ‖ length, 4 bytes ‖ message) …
/// response   HEADERS   (DATA: 0 ‖ length, 4 bytes ‖ message) …   HEADERS: grpc-status
/// ```
enum GRPCFraming {
  static let prefixLength = 5
  static let headers: HPACKHeaders = [":status": "200", "content-type": "application/grpc"]
  private static let success: HPACKHeaders = ["grpc-status": "0"]

  static let isCompressed = RPCStatus(.unimplemented, "Compressed messages are not supported.")

  static let isShuttingDown = RPCStatus(.unavailable, "The server is shutting down.")
  static let isOverdue = RPCStatus(.deadlineExceeded, "The call took longer than its caller would wait.")

  static func isTooLarge(_ length: Int, limit: Int) -> RPCStatus {
    // Code and words of Cloud Firestore.
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
  ///   - hasHeaders: headers were sent.
  static func end(_ status: RPCStatus?, hasHeaders: Bool) -> HTTP2Frame.FramePayload {
    .headers(.init(headers: status.map { ending($0, hasHeaders: hasHeaders) } ?? success, endStream: true))
  }

  /// The last of a response, and word to a client that is still sending that no more is wanted; this is no error of
  /// what was answered.
  static func last(_ end: HTTP2Frame.FramePayload, isRequestWhole: Bool) -> [HTTP2Frame.FramePayload] {
    isRequestWhole ? [end] : [end, .rstStream(.noError)]
  }

  /// The headers that end a response with a status.
  static func ending(_ status: RPCStatus, hasHeaders: Bool) -> HPACKHeaders {
    var trailers = hasHeaders ? HPACKHeaders() : headers
    trailers.add(name: "grpc-status", value: "\(status.code.rawValue)")
    trailers.add(name: "grpc-message", value: percentEncoded(status.message))
    return trailers
  }

  /// Text as `grpc-message` has it.
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
