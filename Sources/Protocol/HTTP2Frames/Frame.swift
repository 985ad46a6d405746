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

/// Takes the frames of a connection out of its bytes. A frame's content is a piece of the bytes that came, not a copy.
package struct FrameReader {
  package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private var bytes = ByteBuffer()
  /// Whether no frame holds a piece of the bytes, which can then grow in place.
  private var isUnshared = false
  /// Whether the peer has still to begin with the preface.
  private var awaitsPreface: Bool
  private var isFirst = true

  /// - Parameter awaitsPreface: whether the peer is a client.
  init(awaitsPreface: Bool) { self.awaitsPreface = awaitsPreface }

  /// Whether a frame has begun that is not whole.
  var isWithin: Bool { bytes.readableBytes > 0 }

  mutating func append(_ more: ByteBuffer) {
    if bytes.readableBytes == 0 {
      (bytes, isUnshared) = (more, false)
    } else if isUnshared {
      bytes.writeImmutableBuffer(more)
    } else {
      // The rest alone is copied: the buffer would copy all that came with it, for the frames that hold pieces of it.
      var joined = ByteBuffer()
      joined.reserveCapacity(bytes.readableBytes + more.readableBytes)
      joined.writeImmutableBuffer(bytes)
      joined.writeImmutableBuffer(more)
      (bytes, isUnshared) = (joined, true)
    }
  }

  /// - Returns: the next frame; `nil` while it is not whole.
  mutating func next() throws(HTTP2Violation) -> Frame? {
    if awaitsPreface {
      guard let first = bytes.readBytes(length: Self.preface.count) else { return nil }
      if first != Self.preface { throw HTTP2Violation(.protocolError, "another beginning than HTTP/2's preface") }
      awaitsPreface = false
    }
    let index = bytes.readerIndex
    guard let word = bytes.getInteger(at: index, as: UInt32.self),
      let flags = bytes.getInteger(at: index + 4, as: UInt8.self),
      let stream = bytes.getInteger(at: index + 5, as: UInt32.self)
    else {
      // The buffer goes back to the connection, which then needs no other one.
      if bytes.readableBytes == 0 { bytes = ByteBuffer() }
      return nil
    }
    if isFirst { try recognize() }
    let length = Int(word >> 8)
    if length > Frame.mostBytes {
      throw HTTP2Violation(.frameSizeError, "a frame of \(length) bytes, where \(Frame.mostBytes) are allowed")
    }
    guard bytes.readableBytes >= Frame.front + length,
      let content = bytes.getSlice(at: index + Frame.front, length: length)
    else { return nil }
    bytes.moveReaderIndex(forwardBy: Frame.front + length)
    (isFirst, isUnshared) = (false, false)
    let kind = Frame.Kind(rawValue: UInt8(truncatingIfNeeded: word))
    return Frame(kind: kind, flags: flags, stream: Int(stream & 0x7fff_ffff), content: content)
  }

  /// Names another protocol that a peer speaks.
  private func recognize() throws(HTTP2Violation) {
    let view = bytes.readableBytesView
    if view.starts(with: "HTTP/".utf8) {
      let line = String(decoding: view.prefix(60).prefix { (0x20...0x7e).contains($0) }, as: UTF8.self)
      throw HTTP2Violation(.protocolError, "HTTP/1 (\"\(line)\")")
    }
    // An alert or a greeting.
    if view.starts(with: [0x15, 0x03]) || view.starts(with: [0x16, 0x03]) {
      throw .tls
    }
  }
}

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
