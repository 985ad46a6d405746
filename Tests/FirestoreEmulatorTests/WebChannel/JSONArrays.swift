// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON

/// The numbered arrays of one frame, or of several in a row, as a client reads them.
struct JSONArrays {
  struct Malformed: Error {
    let text: String
  }

  private(set) var elements: [(number: Int, text: String)] = []

  init(_ frames: [UInt8]) throws {
    // Lengths count UTF-16 code units.
    var rest = Array(String(decoding: frames, as: UTF8.self).utf16)[...]
    while !rest.isEmpty {
      let digits = rest.prefix { $0 != 0x0A }
      guard let length = Int(String(decoding: digits, as: UTF16.self)), rest.count > digits.count + length else {
        throw Malformed(text: String(decoding: rest, as: UTF16.self))
      }
      let text = String(decoding: rest.dropFirst(digits.count + 1).prefix(length), as: UTF16.self)
      rest = rest.dropFirst(digits.count + 1 + length)
      guard case .array(let arrays) = try JSONSyntax(parsing: text, numbers: .ofAnySize).kind else {
        throw Malformed(text: text)
      }
      for array in arrays {
        guard case .array(let pair) = array.kind, pair.count == 2, case .integer(let number) = pair[0].kind else {
          throw Malformed(text: text)
        }
        elements.append((Int(number), pair[1].lineText))
      }
    }
  }
}
