// SPDX-License-Identifier: Apache-2.0
import NIOCore

extension ByteBuffer {
  mutating func writeFrame(_ kind: Frame.Kind, _ flags: UInt8, stream: Int, length: Int) {
    writeInteger(UInt32(truncatingIfNeeded: length) << 8 | UInt32(kind.rawValue))
    writeInteger(flags)
    writeInteger(UInt32(truncatingIfNeeded: stream))
  }

  /// Writes headers as a frame, and further ones if they do not fit.
  mutating func writeHeaders(_ block: ByteBuffer, stream: Int, isLast: Bool) {
    if block.readableBytes <= Frame.mostBytes {
      let flags = isLast ? Frame.endsHeaders | Frame.endsStream : Frame.endsHeaders
      writeFrame(.headers, flags, stream: stream, length: block.readableBytes)
      writeImmutableBuffer(block)
      return
    }
    var rest = block
    var kind = Frame.Kind.headers
    repeat {
      let length = min(rest.readableBytes, Frame.mostBytes)
      var flags: UInt8 = length == rest.readableBytes ? Frame.endsHeaders : 0
      if kind == .headers, isLast { flags |= Frame.endsStream }
      writeFrame(kind, flags, stream: stream, length: length)
      if var piece = rest.readSlice(length: length) { writeBuffer(&piece) }
      kind = .continuation
    } while rest.readableBytes > 0
  }

  mutating func writeSettings(_ settings: [(Frame.Setting, Int)]) {
    writeFrame(.settings, 0, stream: 0, length: 6 * settings.count)
    for (setting, value) in settings {
      writeInteger(setting.rawValue)
      writeInteger(UInt32(truncatingIfNeeded: value))
    }
  }

  mutating func writeWindowUpdate(_ bytes: Int, stream: Int) {
    writeFrame(.windowUpdate, 0, stream: stream, length: 4)
    writeInteger(UInt32(truncatingIfNeeded: bytes))
  }

  mutating func writeReset(_ code: HTTP2Code, stream: Int) {
    writeFrame(.rstStream, 0, stream: stream, length: 4)
    writeInteger(code.rawValue)
  }

  mutating func writeGoAway(_ code: HTTP2Code, _ words: String, last: Int) {
    let words = words.utf8.prefix(256)
    writeFrame(.goAway, 0, stream: 0, length: 8 + words.count)
    writeInteger(UInt32(truncatingIfNeeded: last))
    writeInteger(code.rawValue)
    writeBytes(words)
  }
}
