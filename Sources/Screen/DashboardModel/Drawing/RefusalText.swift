// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension RPCStatus {
  /// A word that is shown in place of data that the server does not return: `denied`, `unavailable`.
  package var stateText: String { code == .permissionDenied ? "denied" : code.name }

  /// The status on one line, with the informative part first. Omits the sentence with which every rejection by security
  /// rules starts. Paths are relative to the database.
  package var lineText: String {
    let beginning = "Missing or insufficient permissions. "
    let isRefusal = code == .permissionDenied && message.utf8.starts(with: beginning.utf8)
    let text = isRefusal ? String(message.dropFirst(beginning.count)) : message
    return RPCStatus(code, Self.relative(text)).description
  }

  /// The status for a line that already contains the document's path. Omits the path at the end of the message.
  package func lineText(beside key: DocumentKey?) -> String {
    let line = lineText
    guard let ending = key.map({ ": \($0.path.text)" }), line.hasSuffix(ending) else { return line }
    return String(line.dropLast(ending.count))
  }

  /// The text in which full names of documents and collections are shortened to paths.
  private static func relative(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.firstRange(of: "projects/") {
      result += rest[..<start.lowerBound]
      let name = rest[start.lowerBound...]
      if let path = path(in: name) {
        rest = path
      } else {
        result += rest[start]
        rest = rest[start.upperBound...]
      }
    }
    return result + rest
  }

  /// The part of a resource name after `projects/P/databases/D/documents/`.
  private static func path(in name: Substring) -> Substring? {
    let parts = name.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false)
    guard parts.count == 6, parts[2] == "databases", parts[4] == "documents",
      !parts[1].contains(where: \.isWhitespace), !parts[3].contains(where: \.isWhitespace)
    else { return nil }
    return parts[5]
  }
}
