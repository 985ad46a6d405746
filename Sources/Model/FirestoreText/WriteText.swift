// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel

/// Parses the writes to one document as users type them.
package enum WriteText {
  /// A field's path, with its new value or a transform as JSON.
  package typealias Change = (path: FieldPath, value: JSONSyntax)
  package typealias Content = (fields: Fields, transforms: [FieldTransform])

  /// Creates a write that replaces the document, or a write that merges every field of the content into the document.
  package static func set(_ key: DocumentKey, _ content: Content, merge: Bool) -> Mutation {
    guard merge else { return Mutation(key: key, operation: .set(content.fields), transforms: content.transforms) }
    let mask = FieldMask(content.fields.leaves)
    return Mutation(key: key, operation: .patch(content.fields, mask), transforms: content.transforms)
  }

  /// Creates a write that changes fields of an existing document. Each path identifies one field: `address.city`
  /// changes one field of a map.
  /// - Throws: `JSONError` if a value is not valid in the JSON of documents. The reason begins with the path.
  package static func update(
    _ key: DocumentKey, _ changes: [Change], removing: [FieldPath], database: DatabaseID
  ) throws(JSONError) -> Mutation {
    let (content, paths) = try content(of: changes, database: database)
    return Mutation(
      key: key, operation: .patch(content.fields, FieldMask(paths + removing)), precondition: .exists(true),
      transforms: content.transforms)
  }

  /// - Returns: the plain fields and the transforms, and the paths of all fields.
  package static func content(
    of changes: [Change], database: DatabaseID
  ) throws(JSONError) -> (content: Content, paths: [FieldPath]) {
    var fields = Fields()
    var transforms: [FieldTransform] = []
    var paths: [FieldPath] = []
    for (path, syntax) in changes {
      let name = path.last
      let content: Content
      do throws(JSONError) {
        content = try DocumentJSON.fields(
          of: JSONSyntax(.object([JSONSyntax.Member(name, syntax)])), database: database)
      } catch {
        throw JSONError(line: error.line, column: error.column, reason: "\(path.canonicalText): \(error.reason)")
      }
      transforms += content.transforms.map { transform in
        let inner = transform.path.segments.dropFirst()
        return FieldTransform(path: FieldPath(segments: path.segments + inner), operation: transform.operation)
      }
      // Skips the field if it is itself a transform, because then there is no value to set.
      if content.transforms.contains(where: { $0.path.segments.count == 1 }) { continue }
      paths.append(path)
      if let value = content.fields[name] { fields[path] = value }
    }
    return ((fields, transforms), paths)
  }

  /// Throws an error if one of the paths contains another.
  package static func refuseOverlaps(_ paths: [FieldPath]) throws(TextError) {
    for (index, path) in paths.enumerated() {
      for other in paths[..<index] where other.isPrefix(of: path) || path.isPrefix(of: other) {
        throw TextError(
          "\(other.canonicalText) and \(path.canonicalText) are one field, or one is inside the other.")
      }
    }
  }
}

extension Fields {
  /// The paths of all values that are not maps, and the paths of all empty maps.
  package var leaves: [FieldPath] { leaves(below: []) }

  private func leaves(below parent: [String]) -> [FieldPath] {
    entries.flatMap { name, value -> [FieldPath] in
      if case .map(let inner) = value, !inner.isEmpty { return inner.leaves(below: parent + [name]) }
      return [FieldPath(segments: parent + [name])]
    }
  }
}

/// Parses a change of a field as users type it: `field=value`.
package enum FieldAssignment {
  /// - Returns: the field's path, and the value as JSON. A value that is not JSON is parsed as by `ValueReader`, except
  ///   that a string may be empty and may contain slashes.
  package static func parse(_ text: String) throws(TextError) -> (path: FieldPath, value: JSONSyntax) {
    try refuseCondition(text)
    var isQuoted = false
    var isEscaped = false
    let separator = text.unicodeScalars.firstIndex { scalar in
      if isEscaped {
        isEscaped = false
      } else if scalar == "`" {
        isQuoted.toggle()
      } else if scalar == "\\" {
        isEscaped = isQuoted
      }
      return scalar == "=" && !isQuoted
    }
    guard let separator else {
      throw TextError("Expected FIELD=VALUE, or one JSON object with all fields to change.")
    }
    try refuseOperator(String(text[..<separator]), String(text[separator...].dropFirst()))
    let path = try FieldPathText.parse(String(text[..<separator]))
    let start = text.unicodeScalars.index(after: separator)
    let column = text.unicodeScalars.distance(from: text.startIndex, to: start) + 1
    return (path, try value(String(text[start...]), column))
  }

  /// - Throws: `TextError` for `n>=1`, `n<1` and `n!=1`, which are conditions.
  private static func refuseCondition(_ text: String) throws(TextError) {
    guard let match = text.wholeMatch(of: /([\w.-]+)\s*([<>!]=|[<>])\s*(.*)/) else { return }
    let (field, value) = (match.output.1, match.output.3.isEmpty ? "VALUE" : match.output.3)
    throw TextError(
      column: field.unicodeScalars.count + 1,
      "\(text) is a condition, not a change. Write a change as \(field)=\(value), and a condition after --where.")
  }

  /// - Throws: `TextError` for `n+=1` and `n-=1`, which are arithmetic operations in other languages.
  private static func refuseOperator(_ name: String, _ value: String) throws(TextError) {
    guard let sign = name.unicodeScalars.last, sign == "+" || sign == "-" else { return }
    let amount = sign == "+" ? value : value.hasPrefix("-") ? String(value.dropFirst()) : "-" + value
    let field = name.dropLast()
    let isSum = !field.isEmpty && value.wholeMatch(of: /-?\d+(\.\d+)?/) != nil
    let meant = isSum ? "Did you mean \(field)={\"$increment\": \(amount)}? " : ""
    throw TextError(
      column: name.unicodeScalars.count, "\(meant)Put a name that ends with \(sign) in back-quotes: `\(name)`.")
  }

  private static func value(_ text: String, _ column: Int) throws(TextError) -> JSONSyntax {
    do throws(JSONError) {
      return try JSONSyntax(parsing: text)
    } catch {
      // Reports the JSON error if the text begins like JSON.
      if let first = text.utf8.first, "{\"".utf8.contains(first) { throw TextError(error, from: column) }
      if let first = text.utf8.first, "['".utf8.contains(first) { return try quoted(text, column) }
      if text == "NaN" { return try JSONSyntax(of: .double(.nan)) }
      if let time = Timestamp(rfc3339: text) { return try JSONSyntax(of: .timestamp(time)) }
      if let typed = try TypedLiteral.syntax(text, column: column) { return typed }
      if let reason = PlainText.otherMeaning(ofWritten: text) {
        throw TextError(
          column: column, "\(reason) As text, write \(PlainText.shellWord("string:" + text)).")
      }
      return JSONSyntax(.string(text))
    }
  }

  /// Parses a list that contains unquoted words, or a text in single quotes.
  private static func quoted(_ text: String, _ column: Int) throws(TextError) -> JSONSyntax {
    do throws(TextError) {
      return try JSONSyntax(of: try ValueReader(database: JSONSyntax.anyDatabase).value(of: text))
    } catch {
      throw error.moved(by: column - 1)
    }
  }
}

extension JSONSyntax {
  /// A placeholder for the database to which references belong, used until the write's database is known.
  fileprivate static let anyDatabase = DatabaseID(project: "any")

  fileprivate init(of value: Value) throws(TextError) {
    do throws(JSONError) { try self.init(parsing: DocumentJSON.line(of: value, relativeTo: Self.anyDatabase)) } catch {
      throw TextError(error.reason)
    }
  }
}
