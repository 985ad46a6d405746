// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreREST

/// The body of a request of WebChannel without the targets that it adds: the server is told to remove them, so that it
/// counts the same messages as the client.
struct RefusedTargets {
  /// The body for the server.
  let body: [UInt8]
  /// The numbers of the targets.
  let targets: [Int32]

  init(_ body: [UInt8]) {
    var targets: [Int32] = []
    let pairs = String(decoding: body, as: UTF8.self).split(separator: "&").map { pair -> String in
      let name = pair.prefix { $0 != "=" }
      guard name.hasPrefix("req"), name.hasSuffix("___data__"),
        let json = try? JSONSyntax(parsing: PercentEncoding.decoded(pair.dropFirst(name.count + 1), spaces: true)),
        case .integer(let number)? = json["addTarget"]?["targetId"]?.kind, let target = Int32(exactly: number)
      else { return String(pair) }
      targets.append(target)
      let database = json["database"].map { "\"database\":\($0.lineText)," } ?? ""
      return "\(name)=" + Self.encoded("{\(database)\"removeTarget\":\(target)}")
    }
    self.body = Array(pairs.joined(separator: "&").utf8)
    self.targets = targets
  }

  private static func encoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      let isPlain = byte < 0x80 && (UnicodeScalar(byte).properties.isAlphabetic || (0x30...0x39).contains(byte))
      encoded +=
        isPlain ? String(UnicodeScalar(byte)) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }
    return encoded
  }
}
