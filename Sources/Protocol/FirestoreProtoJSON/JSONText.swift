// SPDX-License-Identifier: Apache-2.0

/// JSON as it is written, piece by piece: on one line, or with a line for each member and element.
package struct JSONText {
  package private(set) var bytes: [UInt8] = []
  private let isPretty: Bool
  private var depth = 0
  /// Whether the open object or array has no member or element so far.
  private var isEmpty = true

  package init(isPretty: Bool) { self.isPretty = isPretty }

  package mutating func open(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    depth += 1
    isEmpty = true
  }

  package mutating func close(_ bracket: Unicode.Scalar) {
    depth -= 1
    if !isEmpty { newLine() }
    bytes.append(UInt8(ascii: bracket))
    isEmpty = false
  }

  /// Begins an element of an array.
  package mutating func element() {
    if !isEmpty { bytes.append(UInt8(ascii: ",")) }
    isEmpty = false
    newLine()
  }

  /// Begins a member of an object.
  package mutating func name(_ name: String) {
    element()
    string(name)
    raw(isPretty ? ": " : ":")
  }

  package mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// A number, or the texts for what is none.
  package mutating func double(_ value: Double) {
    if value.isNaN { return string("NaN") }
    if value.isInfinite { return string(value < 0 ? "-Infinity" : "Infinity") }
    let text = value.description
    raw(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  package mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): raw("\\\"")
      case UInt8(ascii: "\\"): raw("\\\\")
      case 0x0A: raw("\\n")
      case 0x0D: raw("\\r")
      case 0x09: raw("\\t")
      // Angle brackets are escaped too: they would be markup if a browser took the answer for a page.
      case 0..<0x20, 0x7F, UInt8(ascii: "<"), UInt8(ascii: ">"):
        raw(byte < 0x10 ? "\\u000" : "\\u00")
        raw(String(byte, radix: 16))
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func newLine() {
    guard isPretty else { return }
    bytes.append(0x0A)
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }
}
