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

  /// What a document will be that is to be written; fields whose values the backend computes are named.
  static func json(_ mutation: Mutation, in database: DatabaseID) -> String {
    guard case .set(let fields) = mutation.operation else { return quoted(mutation.key.path.text) }
    let line = json(mutation.key, fields, in: database)
    if mutation.transforms.isEmpty { return line }
    let computed = mutation.transforms.map { quoted($0.path.canonicalText) }.joined(separator: ", ")
    return "\(line.dropLast()), \"computed\": [\(computed)]}"
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

/// A command's data on its way to a terminal. What could move the cursor, reorder or hide other text is written as the
/// escape that it has in JSON, so that a document that was copied from the screen is still that document.
enum TerminalText {
  static func escaped(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 &- 0x20 < 0x5F || $0 == 0x0a }) { return text }
    let scalars = Array(text.unicodeScalars)
    var view = String.UnicodeScalarView()
    for (index, scalar) in scalars.enumerated() {
      if scalar == "\n" || !SafeText.isUnsafe(scalar) || joins(scalars, at: index) {
        view.append(scalar)
      } else {
        for unit in String(scalar).utf16 { view.append(contentsOf: escape(unit).unicodeScalars) }
      }
    }
    return String(view)
  }

  /// Joiners belong to emoji and to words of some scripts; anywhere else they only hide.
  private static func joins(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
    guard scalars[index].value == 0x200C || scalars[index].value == 0x200D else { return false }
    guard index > 0, index + 1 < scalars.count else { return false }
    return [scalars[index - 1], scalars[index + 1]].allSatisfy { $0.value >= 0x0300 && !SafeText.isUnsafe($0) }
  }

  private static func escape(_ unit: UInt16) -> String {
    let digits = String(unit, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
  }
}
