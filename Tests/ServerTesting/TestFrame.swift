// SPDX-License-Identifier: Apache-2.0
package import NIOCore
package import NIOHPACK

/// A frame of HTTP/2 as a client sees it.
package struct TestFrame {
  package enum Kind: UInt8, CaseIterable {
    case data, headers, priority, reset, settings, push, ping, goAway, window, continuation
  }

  package var kind: Kind
  package var flags: UInt8
  package var stream: Int
  package var bytes: [UInt8]
  package var headers = HPACKHeaders()

  package var isLast: Bool { (kind == .data || kind == .headers) && flags & 1 != 0 }
  /// The code of a RST_STREAM or GOAWAY.
  package var code: UInt32? {
    switch kind {
    case .reset: Self.number(bytes)
    case .goAway: Self.number(bytes.dropFirst(4))
    default: nil
    }
  }

  /// What a response says with it: `DATA`, `END 0` for its status, or the name of the frame.
  package var summary: String {
    switch kind {
    case .headers: headers.first(name: "grpc-status").map { "END \($0)" } ?? "HEADERS"
    case .data: isLast ? "DATA, END" : "DATA"
    case .reset: "RESET"
    case .goAway: "GOAWAY \(Self.number(bytes) == 0x7fff_ffff ? "max" : "\(Self.number(bytes))")"
    case .ping: flags & 1 != 0 ? "PONG" : "PING"
    default: "\(kind)"
    }
  }

  private static func number(_ bytes: some Collection<UInt8>) -> UInt32 {
    bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The bytes of a frame, made by hand: what no library would send can be sent too.
  package static func bytes(
    _ kind: Kind, flags: UInt8 = 0, stream: Int = 0, _ content: some Collection<UInt8> = []
  ) -> [UInt8] {
    let length = content.count
    return [UInt8(length >> 16), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), kind.rawValue, flags]
      + bigEndian(UInt32(stream)) + content
  }

  package static func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

  /// Takes the frames of a connection that has just begun.
  package static func take(from received: inout ByteBuffer) throws -> [TestFrame] {
    var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    return try take(from: &received, &decoder)
  }

  /// Takes the frames that are there as a whole.
  package static func take(from received: inout ByteBuffer, _ decoder: inout HPACKDecoder) throws -> [TestFrame] {
    var frames: [TestFrame] = []
    while let front = received.getBytes(at: received.readerIndex, length: 9) {
      let length = front.prefix(3).reduce(0) { $0 << 8 | Int($1) }
      guard received.readableBytes >= 9 + length, let kind = Kind(rawValue: front[3]) else { break }
      received.moveReaderIndex(forwardBy: 9)
      var frame = TestFrame(
        kind: kind, flags: front[4], stream: front[5...].reduce(0) { $0 << 8 | Int($1) },
        bytes: received.readBytes(length: length) ?? [])
      if kind == .headers {
        var block = ByteBuffer(bytes: frame.bytes)
        frame.headers = try decoder.decodeHeaders(from: &block)
      }
      frames.append(frame)
    }
    return frames
  }
}
