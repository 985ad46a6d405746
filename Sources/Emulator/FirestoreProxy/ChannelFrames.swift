// SPDX-License-Identifier: Apache-2.0
import FirestoreEmulator
import NIOCore

/// One numbered array of a back channel of WebChannel.
struct ChannelArray: Equatable {
  var number: Int
  /// The array as text, `[{…}]`.
  var content: [UInt8]
}

/// The frames of a back channel as they come, each a text with its length in UTF-16 code units before it, and in it the
/// arrays: `25\n[[1,[{…}]],[2,["noop"]]]`.
struct ChannelFrames {
  private static let mostDigits = 12
  private static let largestNumber = 1 << 53
  private var bytes: [UInt8] = []

  /// Whether a frame has begun that is not whole.
  var isWithinFrame: Bool { !bytes.isEmpty }

  /// The bytes of the frame that is not whole, which is given up.
  mutating func takeRest() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  /// - Returns: the arrays of each frame that is whole now; `nil` if the bytes are no frames.
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

  /// The place behind so many code units; `nil` if they are not all there.
  private static func end(of length: Int, in bytes: [UInt8], from start: Int) -> Int? {
    var (units, index) = (0, start)
    while index < bytes.count {
      let byte = bytes[index]
      // Each character begins with a byte that is no continuation byte; characters of four bytes are two units.
      if byte & 0xC0 != 0x80 {
        if units >= length { break }
        units += byte >= 0xF0 ? 2 : 1
      }
      index += 1
    }
    // The text ends with a bracket, so that nothing of its last character is still to come.
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

  /// The place of the bracket that closes the one at the start.
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

  /// A frame of arrays.
  static func frame(_ arrays: [ChannelArray]) -> [UInt8] {
    var text = [UInt8(ascii: "[")]
    for array in arrays {
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      text += Array("[\(array.number),".utf8) + array.content + [UInt8(ascii: "]")]
    }
    return ChannelOutbox.framed(text + [UInt8(ascii: "]")])
  }
}
