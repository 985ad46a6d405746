// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import Dashboard
import FirestoreClientState
import FirestoreModel

extension StorageOptions.Locations {
  /// The options with which another command reaches the same data, as they are typed in a shell; `nil` where none does,
  /// since the data is in this process's memory.
  var reachingOptions: String? {
    var options: [String] = []
    if let connection { return Self.quoted(["-C", connection.name]) }
    let reached = BackendConnection.name(self)
    switch (backend, reached.kind) {
    case (.embedded(nil), _): return nil
    case (.embedded(let folder?), _): if isDataNamed { options += ["--data", folder] }
    case (.remote, .cloud): options.append("--cloud")
    case (.remote, _):
      // TLS takes a file of certificates or credentials too.
      guard let host = reached.host, !reached.isTLS else { return nil }
      options += ["--emulator", host]
    }
    if database.project != "hearth" { options += ["--project", database.project] }
    if reached.database != "(default)" { options += ["--database", reached.database] }
    return Self.quoted(options)
  }

  /// The words as a shell takes them.
  private static func quoted(_ words: [String]) -> String {
    words.map { word in
      let isPlain = word.utf8.allSatisfy { byte in
        let character = Character(Unicode.Scalar(byte))
        return byte < 0x80 && (character.isLetter || character.isNumber || "-_./:@%+=,".contains(character))
      }
      return isPlain && !word.isEmpty ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }.joined(separator: " ")
  }
}
