// SPDX-License-Identifier: Apache-2.0
import FirestoreEmulator
import NIOCore

/// One numbered array on a WebChannel back channel.
struct ChannelArray: Equatable {
  var number: Int
  /// The array as text, `[{…}]`.
  var content: [UInt8]
}

/// Parses the frames of a back channel. A frame is a text with its length in UTF-16 code units before it, and contains
/// arrays: `25\n[[1,[{…}]],[2,["noop"]]]`.
struct ChannelFrames {
  private static let mostDigits = 12
  private static let largestNumber = 1 << 53
  private var bytes: [UInt8] = []

  /// Whether a frame has begun but is not complete.
  var isWithinFrame: Bool { !bytes.isEmpty }

  /// Removes and returns the bytes of the incomplete frame.
  mutating func takeRest() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  /// - Returns: the arrays of each frame that is now complete; `nil` if the bytes are not frames.
  mutating func append(_ buffer: ByteBuffer) -> [[ChannelArray]]? {
    bytes += buffer.readableBytesView
    var frames: [[ChannelArray]] = []
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      guard let length = Int(String(decoding: bytes[..<end], as: UTF8.self)) else { return nil }
      guard let next = Self.end(of: length, in: bytes, from: end + 1) else { return frames }
      guard let arrays = Self.arrays(of: Array(bytes[(end + 1)..<next])) else { return nil }
      frames.append(arrays)
      bytes.removeFirst(next)
    }
    return bytes.count > Self.mostDigits ? nil : frames
  }

  /// The position after `length` code units; `nil` if not all of them have arrived.
  private static func end(of length: Int, in bytes: [UInt8], from start: Int) -> Int? {
    var (units, index) = (0, start)
    while index < bytes.count {
      let byte = bytes[index]
      // Each character has one byte that is not a continuation byte. Characters of four bytes are two units.
      if byte & 0xC0 != 0x80 {
        if units >= length { break }
        units += byte >= 0xF0 ? 2 : 1
      }
      index += 1
    }
    // The text ends with a bracket, so its last character is complete.
    return units >= length && index > start && bytes[index - 1] < 0x80 ? index : nil
  }

  private static func arrays(of text: [UInt8]) -> [ChannelArray]? {
    var (arrays, index) = ([ChannelArray](), 1)
    guard text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") else { return nil }
    while index < text.count - 1 {
      if text[index] == UInt8(ascii: ",") { index += 1 }
      guard text[index] == UInt8(ascii: "["),
        let comma = text[index...].firstIndex(of: UInt8(ascii: ",")),
        let number = Int(String(decoding: text[(index + 1)..<comma], as: UTF8.self)),
        (0...largestNumber).contains(number),
        let end = close(of: index, in: text)
      else { return nil }
      arrays.append(ChannelArray(number: number, content: Array(text[(comma + 1)..<end])))
      index = end + 1
    }
    return arrays
  }

  /// The position of the bracket that closes the one at `start`.
  private static func close(of start: Int, in text: [UInt8]) -> Int? {
    var (depth, isQuoted, index) = (0, false, start)
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\\") where isQuoted: index += 1
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: "[") where !isQuoted: depth += 1
      case UInt8(ascii: "]") where !isQuoted:
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
      index += 1
    }
    return nil
  }

  /// Creates a frame with these arrays.
  static func frame(_ arrays: [ChannelArray]) -> [UInt8] {
    var text = [UInt8(ascii: "[")]
    for array in arrays {
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      text += Array("[\(array.number),".utf8) + array.content + [UInt8(ascii: "]")]
    }
    return ChannelOutbox.framed(text + [UInt8(ascii: "]")])
  }
}
