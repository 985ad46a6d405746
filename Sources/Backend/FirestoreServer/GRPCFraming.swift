// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import NIOCore
package import NIOHPACK

/// Encodes and decodes calls on HTTP/2 (gRPC over HTTP/2):
/// ```
/// request    HEADERS   (DATA: 0 ‖ length, 4 bytes ‖ message) …
/// response   HEADERS   (DATA: 0 ‖ length, 4 bytes ‖ message) …   HEADERS: grpc-status
/// ```
package enum GRPCFraming {
  static let prefixLength = 5
  package static let headers: HPACKHeaders = [":status": "200", "content-type": "application/grpc"]
  static let success: HPACKHeaders = ["grpc-status": "0"]

  static let isCompressed = RPCStatus(.unimplemented, "Compressed messages are not supported.")

  package static let isShuttingDown = RPCStatus(.unavailable, "The server is shutting down.")
  static let hasLargeHead = RPCStatus(
    .resourceExhausted, "The metadata of the call is larger than \(ConnectionLimits.headBytes) bytes.")
  static let isOverdue = RPCStatus(.deadlineExceeded, "The call exceeded its caller's timeout.")

  static let isIncomplete = RPCStatus(
    .cancelled, "The rest of the request did not arrive: the client sent nothing for 30 seconds.")

  static func isTooLarge(_ length: Int, limit: Int) -> RPCStatus {
    // The code and the text are Cloud Firestore's.
    RPCStatus(.invalidArgument, "Request payload size exceeds the limit: \(limit) bytes. This one has \(length).")
  }

  /// The next message, once its prefix and all its bytes have arrived.
  /// - Parameter limit: the maximum size of a message in bytes.
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

  static func data(_ messages: [[UInt8]]) -> ByteBuffer {
    var buffer = ByteBufferAllocator().buffer(capacity: messages.reduce(0) { $0 + $1.count + prefixLength })
    for message in messages {
      buffer.writeInteger(0 as UInt8)
      buffer.writeInteger(UInt32(message.count))
      buffer.writeBytes(message)
    }
    return buffer
  }

  /// The headers that end a response with a status.
  package static func ending(_ status: RPCStatus, hasHeaders: Bool) -> HPACKHeaders {
    var trailers = hasHeaders ? HPACKHeaders() : headers
    trailers.add(name: "grpc-status", value: "\(status.code.rawValue)")
    // A text that is unlikely to repeat is not added to the header table, where it would displace headers that every
    // call sends.
    trailers.add(name: "grpc-message", value: percentEncoded(status.message), indexing: .nonIndexable)
    return trailers
  }

  /// The text in the encoding of `grpc-message`.
  static func percentEncoded(_ text: String) -> String {
    let isPlain = { (byte: UInt8) in (0x20...0x7e).contains(byte) && byte != UInt8(ascii: "%") }
    // HTTP/2 forbids spaces around a value.
    let isBlank = { (byte: UInt8?) in byte == 0x20 }
    if text.utf8.allSatisfy(isPlain), !isBlank(text.utf8.first), !isBlank(text.utf8.last) { return text }
    var result = ""
    let last = text.utf8.count - 1
    for (index, byte) in text.utf8.enumerated() {
      if isPlain(byte), !isBlank(byte) || index > 0 && index < last {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += digits.count == 1 ? "%0" + digits : "%" + digits
      }
    }
    return result
  }
}
