// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import TerminalCanvas

/// Documents as lines, for programs and for people.
enum DocumentLine {
  /// `{"path": …, "data": …}`: what `export` writes and `import` reads.
  static func json(_ key: DocumentKey, _ fields: Fields, in database: DatabaseID) -> String {
    "{\"path\": \(quoted(key.path.text)), \"data\": \(DocumentJSON.line(of: fields, relativeTo: database))}"
  }

  /// With the versions, as `get --json` prints it.
  static func jsonWithTimes(_ document: Document, in database: DatabaseID) -> String {
    var line = "{\"path\": \(quoted(document.key.path.text))"
    if let created = document.createTime { line += ", \"createTime\": \(quoted(created.timestamp.rfc3339Text))" }
    if let updated = document.version { line += ", \"updateTime\": \(quoted(updated.timestamp.rfc3339Text))" }
    if document.hasPendingWrites { line += ", \"pendingWrites\": true" }
    let data = document.data.map { DocumentJSON.line(of: $0.fields, relativeTo: database) } ?? "null"
    return line + ", \"data\": \(data)}"
  }

  /// The path and the fields, safe to show on a terminal.
  static func text(_ document: Document, in database: DatabaseID) -> String {
    let data = document.data.map { DocumentJSON.line(of: $0.fields, relativeTo: database) } ?? "null"
    return "\(SafeText.sanitized(document.key.path.text))  \(data)"
  }

  /// A JSON string.
  static func quoted(_ text: String) -> String { JSONSyntax(.string(text)).lineText }
}
