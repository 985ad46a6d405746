// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel

/// Documents as lines, for programs and for people.
package enum DocumentLine {
  /// `{"path": …, "data": …}`: what `export` writes and `import` reads.
  package static func json(_ key: DocumentKey, _ fields: Fields, in database: DatabaseID) -> String {
    "{\"path\": \(quoted(key.path.text)), \"data\": \(DocumentJSON.line(of: fields, relativeTo: database))}"
  }

  /// The JSON of a document that a mutation will write; fields whose values the backend computes are named.
  package static func json(_ mutation: Mutation, in database: DatabaseID) -> String {
    guard case .set(let fields) = mutation.operation else { return quoted(mutation.key.path.text) }
    let line = json(mutation.key, fields, in: database)
    if mutation.transforms.isEmpty { return line }
    let computed = mutation.transforms.map { quoted($0.path.canonicalText) }.joined(separator: ", ")
    return "\(line.dropLast()), \"computed\": [\(computed)]}"
  }

  /// The JSON of a document with its versions, as `get --json` prints it.
  static func jsonWithTimes(_ document: Document, namesPath: Bool, in database: DatabaseID) -> String {
    var members = namesPath ? ["\"path\": \(quoted(document.key.path.text))"] : []
    if let created = document.createTime { members.append("\"createTime\": \(quoted(created.timestamp.rfc3339Text))") }
    if let updated = document.version { members.append("\"updateTime\": \(quoted(updated.timestamp.rfc3339Text))") }
    if document.hasPendingWrites { members.append("\"pendingWrites\": true") }
    let data = document.data.map { DocumentJSON.line(of: $0.fields, relativeTo: database) } ?? "null"
    members.append("\"data\": \(data)")
    return "{\(members.joined(separator: ", "))}"
  }

  /// The path, unless it is left out, and the fields, for people.
  package static func text(_ document: Document, namesPath: Bool = true, in database: DatabaseID) -> ShownText {
    let data = document.data.map { DocumentJSON.line(of: $0.fields, relativeTo: database) } ?? "null"
    return namesPath ? "\(document.key.path.text)  \(json: data)" : "\(json: data)"
  }

  /// A JSON string.
  package static func quoted(_ text: String) -> String { JSONSyntax(.string(text)).lineText }
}
