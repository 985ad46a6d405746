// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreText

/// Text with placeholders for a document's path, times and fields, such as `{{path}}\t{{address.city}}`.
package struct OutputTemplate: Sendable {
  private enum Part: Hashable, Sendable {
    case text(String)
    case path, id, createTime, updateTime, data
    case field(FieldPath)
  }

  private let parts: [Part]

  /// - Parameter text: the template. Outside of placeholders, `\n`, `\t` and `\\` are escapes.
  init(parsing text: String) throws(TextError) {
    var parts: [Part] = []
    var literal = ""
    var cursor = TextCursor(text)
    while let scalar = cursor.next {
      let start = cursor.column
      if cursor.take("{{") {
        if !literal.isEmpty { parts.append(.text(literal)) }
        literal = ""
        parts.append(try Self.place(&cursor, from: start))
        continue
      }
      cursor.position += 1
      if scalar == "\\", let escaped = ["n": "\n", "t": "\t", "\\": "\\"][cursor.next.map(String.init) ?? ""] {
        cursor.position += 1
        literal += escaped
      } else {
        literal.unicodeScalars.append(scalar)
      }
    }
    if !literal.isEmpty { parts.append(.text(literal)) }
    self.parts = parts
  }

  private static func place(_ cursor: inout TextCursor, from start: Int) throws(TextError) -> Part {
    let first = cursor.position
    while !cursor.isAtEnd, !cursor.scalars[cursor.position...].starts(with: "}}".unicodeScalars) {
      cursor.position += 1
    }
    let inner = cursor.text(first..<cursor.position)
    guard cursor.take("}}") else { throw TextError(column: start, "Expected \"}}\" for this \"{{\".") }
    let name = String(inner.trimming())
    switch name {
    case "": throw TextError(column: start, "Expected a field between the braces, as in {{name}}.")
    case "path": return .path
    case "id", "__name__": return .id
    case "createTime": return .createTime
    case "updateTime": return .updateTime
    case "data": return .data
    default: return .field(try FieldPathText.parse(name, column: first + 1))
    }
  }

  /// The fields in the template; `nil` if the template shows all fields.
  package var fields: Set<FieldPath>? {
    if parts.contains(.data) { return nil }
    return Set(parts.compactMap { if case .field(let path) = $0 { path } else { nil } })
  }

  /// The names of the template's placeholders.
  var names: [String] {
    parts.compactMap { part in
      switch part {
      case .text: nil
      case .path: "path"
      case .id: "id"
      case .createTime: "createTime"
      case .updateTime: "updateTime"
      case .data: "data"
      case .field(let path): path.canonicalText
      }
    }
  }

  /// - Parameter value: returns the text for a name; `nil` for an empty text.
  func text(_ value: (String) -> String?) -> String {
    var names = names[...]
    return parts.map { part in
      if case .text(let literal) = part { return literal }
      return names.popFirst().flatMap(value) ?? ""
    }.joined()
  }

  /// The text for a document. Placeholders for missing values become empty.
  func text(for document: Document, in database: DatabaseID) -> String {
    var text = ""
    for part in parts {
      switch part {
      case .text(let literal): text += literal
      case .path: text += document.key.path.text
      case .id: text += document.key.documentID
      case .createTime: text += document.createTime?.timestamp.rfc3339Text ?? ""
      case .updateTime: text += document.version?.timestamp.rfc3339Text ?? ""
      case .data: text += document.data.map { CellText.text(.map($0.fields), in: database) } ?? ""
      case .field(let path): text += document[path].map { CellText.text($0, in: database) } ?? ""
      }
    }
    return text
  }
}
