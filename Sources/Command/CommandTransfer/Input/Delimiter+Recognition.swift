// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import FirestoreModel
import FirestoreText

extension Delimiter {
  /// The sign that separates the cells in the first row of a file: a comma if there is one outside of quotes, else a
  /// semicolon, as spreadsheets write where numbers have commas, else a tab or a bar.
  static func recognized(in bytes: [UInt8]) -> Delimiter {
    var (found, isQuoted) = (Set<UInt8>(), false)
    for byte in bytes {
      if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if !isQuoted {
        if byte == UInt8(ascii: "\n") { break }
        found.insert(byte)
      }
    }
    let sign = [",", ";", "\t", "|"].compactMap(\.utf8.first).first { found.contains($0) }
    return sign.map { .quoted($0) } ?? .comma
  }

  /// Reads the argument of `--delimiter`: one character, or a name.
  package init(parsing text: String) throws {
    let names = ["comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "pipe": "|", "space": " "]
    let sign = Array((names[text.lowercased()] ?? text).utf8)
    guard sign.count == 1, sign[0] < 0x80, ![0x22, 0x0A, 0x0D].contains(sign[0]) else {
      throw TextError("Expected one character of ASCII, such as ; or |, or tab.")
    }
    self = .quoted(sign[0])
  }

  /// The delimiter's name in messages.
  package var name: String {
    switch self {
    case .quoted(let sign): Self.name(of: UnicodeScalar(sign))
    case .tab: "tab"
    }
  }

  package static func name(of sign: Unicode.Scalar) -> String {
    switch sign {
    case ",": "comma"
    case ";": "semicolon"
    case "\t": "tab"
    case " ": "space"
    default: "\"\(sign)\""
    }
  }
}
