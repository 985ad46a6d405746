// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// A frame of HTTP/2 (RFC 9113, 4.1). Each frame has a header of nine bytes:
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
  /// The maximum size in bytes of a frame's content. No setting raises this maximum.
  static let mostBytes = 16_384
  /// The maximum size of a window, and the maximum stream number.
  static let largest = Int(Int32.max)

  static let isAcknowledgement: UInt8 = 0x1
  static let endsStream: UInt8 = 0x1
  static let endsHeaders: UInt8 = 0x4
  static let isPadded: UInt8 = 0x8
  static let hasPriority: UInt8 = 0x20

  /// The kind of the frame; `nil` for an unknown kind. Such a frame is ignored.
  var kind: Kind?
  var flags: UInt8
  /// The number of the stream; 0 for the connection.
  var stream: Int
  var content: ByteBuffer

  func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

  /// Removes padding, and the priority that may precede the headers.
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

/// Extracts the frames of a connection from its bytes. The content of a frame is a slice of the received bytes, not a
/// copy.
package struct FrameReader {
  package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private var bytes = ByteBuffer()
  /// Whether no frame refers to a slice of the bytes. If so, the buffer can grow without being copied.
  private var isUnshared = false
  /// Whether the preface of the peer has not arrived yet.
  private var awaitsPreface: Bool
  private var isFirst = true

  /// - Parameter awaitsPreface: whether the peer is a client, which sends a preface.
  init(awaitsPreface: Bool) { self.awaitsPreface = awaitsPreface }

  /// Whether part of a frame has arrived.
  var isWithin: Bool { bytes.readableBytes > 0 }

  mutating func append(_ more: ByteBuffer) {
    if bytes.readableBytes == 0 {
      (bytes, isUnshared) = (more, false)
    } else if isUnshared {
      bytes.writeImmutableBuffer(more)
    } else {
      // Copies only the unread rest. Since frames hold slices, appending to the buffer would copy everything.
      var joined = ByteBuffer()
      joined.reserveCapacity(bytes.readableBytes + more.readableBytes)
      joined.writeImmutableBuffer(bytes)
      joined.writeImmutableBuffer(more)
      (bytes, isUnshared) = (joined, true)
    }
  }

  /// - Returns: the next frame; `nil` if it is still incomplete.
  mutating func next() throws(HTTP2Violation) -> Frame? {
    if awaitsPreface {
      guard let first = bytes.readBytes(length: Self.preface.count) else { return nil }
      if first != Self.preface { throw HTTP2Violation(.protocolError, "no HTTP/2 preface") }
      awaitsPreface = false
    }
    let index = bytes.readerIndex
    guard let word = bytes.getInteger(at: index, as: UInt32.self),
      let flags = bytes.getInteger(at: index + 4, as: UInt8.self),
      let stream = bytes.getInteger(at: index + 5, as: UInt32.self)
    else {
      // Releases the buffer, so that the connection can use it again.
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

  /// Throws if the first bytes show that the peer uses another protocol.
  private func recognize() throws(HTTP2Violation) {
    let view = bytes.readableBytesView
    if view.starts(with: "HTTP/".utf8) {
      let line = String(decoding: view.prefix(60).prefix { (0x20...0x7e).contains($0) }, as: UTF8.self)
      throw HTTP2Violation(.protocolError, "HTTP/1 (\"\(line)\")")
    }
    // A TLS alert or handshake record.
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

  /// Writes headers as a frame. If they do not fit, also writes continuation frames.
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
