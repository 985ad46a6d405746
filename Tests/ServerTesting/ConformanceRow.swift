// SPDX-License-Identifier: Apache-2.0

/// One rule of RFC 9113 or RFC 7541: the bytes that a peer sends, and the reaction to them.
package struct ConformanceRow: Sendable, CustomStringConvertible {
  package enum Code: UInt32, Sendable {
    case protocolError = 1
    case flowControlError = 3
    case streamClosed = 5
    case frameSizeError = 6
    case refusedStream = 7
    case compressionError = 9
    case enhanceYourCalm = 11
  }

  package enum Reaction: Equatable, Sendable {
    /// GOAWAY with the code, and the end of the connection.
    case connectionError(Code)
    /// RST_STREAM with the code; the connection remains.
    case streamError(Code)
    /// Neither of both; the connection remains.
    case accepted
  }

  package let name: String
  package let bytes: [UInt8]
  package let reaction: Reaction

  package init(_ name: String, _ bytes: [UInt8], _ reaction: Reaction) {
    (self.name, self.bytes, self.reaction) = (name, bytes, reaction)
  }

  /// The rules for frames of the connection, which hold for a client and a server.
  package static let ofEitherEnd: [ConformanceRow] = [
    ConformanceRow("6.1 DATA on stream 0", TestFrame.bytes(.data, [1]), .connectionError(.protocolError)),
    ConformanceRow(
      "6.3 PRIORITY on stream 0", TestFrame.bytes(.priority, [0, 0, 0, 1, 1]), .connectionError(.protocolError)),
    ConformanceRow(
      "6.4 RST_STREAM on stream 0", TestFrame.bytes(.reset, [0, 0, 0, 8]), .connectionError(.protocolError)),
    ConformanceRow("6.5 SETTINGS on a stream", TestFrame.bytes(.settings, stream: 1), .connectionError(.protocolError)),
    ConformanceRow(
      "6.5 SETTINGS of 5 bytes", TestFrame.bytes(.settings, [0, 3, 0, 0, 0]), .connectionError(.frameSizeError)),
    ConformanceRow(
      "6.5 acknowledgement with content", TestFrame.bytes(.settings, flags: 1, [0, 3, 0, 0, 0, 1]),
      .connectionError(.frameSizeError)),
    ConformanceRow(
      "6.5.2 INITIAL_WINDOW_SIZE 2^31", TestFrame.setting(4, 1 << 31), .connectionError(.flowControlError)),
    ConformanceRow(
      "6.7 PING on a stream", TestFrame.bytes(.ping, stream: 1, [1, 2, 3, 4, 5, 6, 7, 8]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "6.8 GOAWAY on a stream", TestFrame.bytes(.goAway, stream: 1, [0, 0, 0, 0, 0, 0, 0, 0]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "6.8 GOAWAY of 7 bytes", TestFrame.bytes(.goAway, [0, 0, 0, 0, 0, 0, 0]), .connectionError(.frameSizeError)),
    ConformanceRow(
      "6.9 window of the connection grows by 0", TestFrame.bytes(.window, [0, 0, 0, 0]),
      .connectionError(.protocolError)),
  ]

  package var description: String { name }

  /// The reaction that frames show; `nil` for a mixture.
  package static func reaction(in frames: [TestFrame], isActive: Bool) -> Reaction? {
    let goAways = frames.filter { $0.kind == .goAway }.compactMap(\.code).compactMap { Code(rawValue: $0) }
    let resets = frames.filter { $0.kind == .reset }.compactMap(\.code).compactMap { Code(rawValue: $0) }
    switch (goAways.count, resets.count, isActive) {
    case (0, 0, true): return .accepted
    case (0, 1, true): return .streamError(resets[0])
    case (1, _, false): return .connectionError(goAways[0])
    default: return nil
    }
  }
}

/// A block of headers without compression, which no table of headers changes.
package func literals(_ fields: [(String, String)]) -> [UInt8] {
  fields.flatMap { name, value in [0] + text(name) + text(value) }
}

private func text(_ text: String) -> [UInt8] {
  let bytes = Array(text.utf8)
  if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
  var (length, rest) = ([UInt8(127)], bytes.count - 127)
  while rest >= 128 {
    length.append(UInt8(rest % 128 + 128))
    rest /= 128
  }
  return length + [UInt8(rest)] + bytes
}

extension TestFrame {
  /// HEADERS with all headers.
  package static func headers(_ stream: Int, _ fields: [(String, String)], isLast: Bool = false) -> [UInt8] {
    bytes(.headers, flags: isLast ? 5 : 4, stream: stream, literals(fields))
  }

  /// SETTINGS with one setting.
  package static func setting(_ number: UInt8, _ value: UInt32) -> [UInt8] {
    bytes(.settings, [0, number] + bigEndian(value))
  }
}
