// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Turns messages into lines and back.
package enum InspectionLine {
  /// The most bytes that a program reads of one request.
  package static let longestRequest = 256 << 10
  /// The most bytes that a watcher reads of one piece of news.
  package static let longestNews = 64 << 20

  /// The line of a message, with the line's end.
  package static func bytes(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    var bytes = Array(try encoder.encode(value))
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  package static func value<Value: Decodable>(_ type: Value.Type, of line: some Sequence<UInt8>) throws -> Value {
    try JSONDecoder().decode(type, from: Data(line))
  }
}

/// Received bytes, divided into lines.
package struct ReceivedLines: Sendable {
  private var bytes: [UInt8] = []
  /// The number of bytes that were searched for the end of a line.
  private var searched = 0

  package init() {}

  /// The number of bytes of an unfinished line.
  package var count: Int { bytes.count }

  /// Adds received bytes.
  /// - Returns: the lines that are complete now, without their ends.
  package mutating func take(_ received: ArraySlice<UInt8>) -> [[UInt8]] {
    bytes += received
    var lines: [[UInt8]] = []
    var start = 0
    while let end = bytes[max(start, searched)...].firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(Array(bytes[start..<end]))
      start = end + 1
      searched = start
    }
    if start > 0 { bytes.removeFirst(start) }
    searched = bytes.count
    return lines
  }
}
