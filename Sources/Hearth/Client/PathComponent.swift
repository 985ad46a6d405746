// SPDX-License-Identifier: Apache-2.0

/// Names chosen by users as one component of a file path.
package enum PathComponent {
  /// Letters, digits, `-` and `_` as they are, every other byte as `%XX`, nothing as `%`: no separators, no `..`, no
  /// collisions.
  package static func escaped(_ name: String) -> String {
    if name.isEmpty { return "%" }
    var text = ""
    for byte in name.utf8 {
      let character = Character(UnicodeScalar(byte))
      let isPlain = byte < 128 && (character.isLetter || character.isNumber || character == "-" || character == "_")
      text += isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return text
  }
}
