// SPDX-License-Identifier: Apache-2.0

/// The messages of a session for its client: numbered arrays, each kept until the client acknowledges it.
///
/// ```
/// acknowledged │ sent on this back channel │ not sent
///        ──────┴───────────────────────────┴──────── numbers, from 1 on; 0 is the answer that opens a session
/// ```
package struct ChannelOutbox {
  private struct Element {
    let number: Int
    /// The array as text, `[{…}]`.
    let text: [UInt8]
  }

  private static let noop = Array("[\"noop\"]".utf8)
  /// The array that has the client end the session.
  static let close = Array("[\"close\"]".utf8)

  private var elements: [Element] = []
  /// The number of the newest array.
  private(set) var last = 0
  private var sent = 0
  /// The number of bytes of the kept arrays.
  private(set) var bytes = 0
  /// The number of bytes of the arrays that were not sent.
  private(set) var unsentBytes = 0

  var isEmpty: Bool { elements.isEmpty }
  var hasUnsent: Bool { sent < last }

  /// - Parameter message: the message in JSON.
  mutating func append(message: [UInt8]) { append([UInt8(ascii: "[")] + message + [UInt8(ascii: "]")]) }

  /// - Parameter text: the text of an array.
  mutating func append(_ text: [UInt8]) {
    last += 1
    elements.append(Element(number: last, text: text))
    bytes += text.count
    unsentBytes += text.count
  }

  /// Appends an array without content, which keeps the back channel alive.
  mutating func appendNoop() { append(Self.noop) }

  /// Forgets the arrays that the client has. Numbers that were not sent are no acknowledgement.
  mutating func acknowledge(_ number: Int) {
    guard number <= last, let first = elements.first, first.number <= number else { return }
    let gone = elements.prefix { $0.number <= number }
    bytes -= gone.reduce(0) { $0 + $1.text.count }
    unsentBytes = min(unsentBytes, bytes)
    elements.removeFirst(gone.count)
    // An idle session keeps no room for past arrays.
    if elements.isEmpty { elements = [] }
    sent = max(sent, number)
  }

  /// Has all kept arrays sent again, on another back channel.
  mutating func rewind() {
    sent = elements.first.map { $0.number - 1 } ?? last
    unsentBytes = bytes
  }

  /// The arrays that have not been sent, in one frame; `nil` if there are none.
  mutating func frame() -> [UInt8]? {
    guard hasUnsent else { return nil }
    var text = [UInt8(ascii: "[")]
    for element in elements.drop(while: { $0.number <= sent }) {
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      text.append(contentsOf: "[\(element.number),".utf8)
      text += element.text
      text.append(UInt8(ascii: "]"))
    }
    text.append(UInt8(ascii: "]"))
    (sent, unsentBytes) = (last, 0)
    return Self.framed(text)
  }

  /// A text with its length before it, in the UTF-16 code units that browsers count.
  package static func framed(_ text: [UInt8]) -> [UInt8] {
    var units = 0
    for byte in text {
      // Each character begins with a byte that is no continuation byte; characters of four bytes are two units.
      if byte & 0xC0 != 0x80 { units += 1 }
      if byte >= 0xF0 { units += 1 }
    }
    return Array("\(units)\n".utf8) + text
  }
}
