// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Takes the messages of an answer out of its bytes. A message that lies in them as a whole is a piece of them; of one that
/// comes in several pieces these are copied, so that no buffer is kept for a part of it.
struct MessageReader {
  /// The most bytes of one message: a document of one megabyte, or a commit of ten, with room to spare.
  private static let messageLimit = 17 << 20
  static let prefixLength = 5

  /// The message whose end has not come, with its prefix.
  private var partial = ByteBuffer()

  /// Whether a message has begun that is not complete.
  var isWithin: Bool { partial.readableBytes > 0 }

  /// - Returns: the next message; `nil` once all bytes are taken.
  mutating func next(_ bytes: inout ByteBuffer) throws(TransportFailure) -> ByteBuffer? {
    if partial.readableBytes == 0 {
      if let length = try Self.length(bytes), bytes.readableBytes >= Self.prefixLength + length {
        bytes.moveReaderIndex(forwardBy: Self.prefixLength)
        return bytes.readSlice(length: length)
      }
      if bytes.readableBytes == 0 { return nil }
    }
    take(Self.prefixLength, &bytes)
    guard let length = try Self.length(partial) else { return nil }
    partial.reserveCapacity(Self.prefixLength + length)
    take(Self.prefixLength + length, &bytes)
    guard partial.readableBytes == Self.prefixLength + length else { return nil }
    var message = partial
    partial = ByteBuffer()
    message.moveReaderIndex(forwardBy: Self.prefixLength)
    return message
  }

  /// Moves bytes until the partial message has so many, or there are no more.
  private mutating func take(_ count: Int, _ bytes: inout ByteBuffer) {
    let missing = min(count - partial.readableBytes, bytes.readableBytes)
    if missing > 0, var piece = bytes.readSlice(length: missing) { partial.writeBuffer(&piece) }
  }

  /// The length of the message that begins here, once its prefix is there.
  private static func length(_ bytes: ByteBuffer) throws(TransportFailure) -> Int? {
    guard let flag = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) else { return nil }
    if flag != 0 { throw .compressed }
    guard let length = bytes.getInteger(at: bytes.readerIndex + 1, as: UInt32.self) else { return nil }
    if length > Self.messageLimit { throw .tooLarge(Int(length)) }
    return Int(length)
  }
}
