// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON

/// The beginning of a text, parsed as a JSON value. The available bytes may end in the middle of the value.
struct InputOutline {
  /// The value. Arrays and objects that do not end in the available bytes contain only their first elements.
  let value: JSONSyntax
  /// The index after the value; `nil` if the value does not end in the available bytes.
  let end: Int?

  /// - Parameter bytes: the beginning of the text, without a byte order mark.
  /// - Returns: `nil` for text that is not JSON.
  init?(_ bytes: [UInt8]) {
    var scan = BracketScan()
    bytes.withUnsafeBufferPointer { scan.read($0) }
    guard let cut = scan.cut else { return nil }
    var text = Array(bytes[..<cut.end])
    text += cut.open.reversed()
    guard let known = String(validating: text, as: UTF8.self),
      let value = try? JSONSyntax(parsing: known, numbers: .ofAnySize)
    else { return nil }
    (self.value, end) = (value, cut.open.isEmpty ? cut.end : nil)
  }
}

/// Finds the last position at which a JSON text can be cut, and the brackets that are open at this position.
private struct BracketScan {
  private(set) var cut: (end: Int, open: [UInt8])?
  private var open: [UInt8] = []

  mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    var (index, isInString) = (0, false)
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if isInString {
        if byte == UInt8(ascii: "\\") { index += 1 } else if byte == UInt8(ascii: "\"") { isInString = false }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        // The code of a closing bracket is two more than the code of its opening bracket.
        open.append(byte + 2)
        cut = (index, open)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard open.popLast() == byte else {
          cut = nil
          return
        }
        cut = (index, open)
        if open.isEmpty { return }
      case UInt8(ascii: ","):
        if open.isEmpty {
          cut = nil
          return
        }
        cut = (index - 1, open)
      default: break
      }
    }
  }
}
