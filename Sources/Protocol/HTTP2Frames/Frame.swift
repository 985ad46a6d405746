// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// A frame of HTTP/2 (RFC 9113, 4.1). Nine bytes stand in front of each:
/// ```
/// length, 24 bits │ kind, 8 │ flags, 8 │ 0 │ stream, 31
/// ```
struct Frame {
  enum Kind: UInt8 {
    case data, headers, priority, rstStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
  }

  enum Setting: UInt16 {
    case headerTableSize = 1
    case enablePush, maxConcurrentStreams, initialWindowSize, maxFrameSize, maxHeaderListSize
  }

  static let front = 9
  /// The most bytes of a frame's content, which no setting raises.
  static let mostBytes = 16_384
  /// The largest window, and the largest number of a stream.
  static let largest = Int(Int32.max)

  static let isAcknowledgement: UInt8 = 0x1
  static let endsStream: UInt8 = 0x1
  static let endsHeaders: UInt8 = 0x4
  static let isPadded: UInt8 = 0x8
  static let hasPriority: UInt8 = 0x20

  /// `nil` for a kind that is not known, which is to be passed over.
  var kind: Kind?
  var flags: UInt8
  /// 0 for what is about the connection.
  var stream: Int
  var content: ByteBuffer

  func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

  /// Takes away padding, and the priority in front of headers.
  mutating func unwrap() throws(HTTP2Violation) {
    var padding = 0
    if has(Self.isPadded) {
      guard let length = content.readInteger(as: UInt8.self) else { throw .size(self) }
      padding = Int(length)
    }
    if kind == .headers, has(Self.hasPriority) {
      guard content.readableBytes >= 5 else { throw .size(self) }
      content.moveReaderIndex(forwardBy: 5)
    }
    guard padding <= content.readableBytes else {
      throw HTTP2Violation(.protocolError, "a frame with more padding than content")
    }
    content = content.getSlice(at: content.readerIndex, length: content.readableBytes - padding) ?? content
  }
}
