// SPDX-License-Identifier: Apache-2.0
import NIOCore

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
