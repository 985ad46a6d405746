// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

extension ConnectedBackend {
  /// The address at which a browser shows a document: in the console of Cloud Firestore, or as an emulator's REST tells
  /// it; `nil` for a backend without one.
  package func address(of key: DocumentKey) -> String? {
    switch kind {
    case .embedded: return nil
    case .cloud:
      // The console names the default database without parentheses, and parts of a path by ~2F.
      let name = database == "(default)" ? "-default-" : Self.escaped(database)
      let path = key.path.segments.map { "~2F" + Self.escaped(String($0)).replacing("%", with: "~") }.joined()
      return
        "https://console.firebase.google.com/project/\(Self.escaped(project))/firestore/databases/\(name)/data/\(path)"
    case .emulator:
      guard let host else { return nil }
      let path = key.path.segments.map { Self.escaped(String($0)) }.joined(separator: "/")
      return "\(isTLS ? "https" : "http")://\(host)/v1/projects/\(Self.escaped(project))/databases/"
        + "\(database)/documents/\(path)"
    }
  }

  /// All but letters, digits and `-._~` as `%XX` (RFC 3986).
  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let character = Character(Unicode.Scalar(byte))
      let isPlain = byte < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
      let hex = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + hex
    }.joined()
  }
}
