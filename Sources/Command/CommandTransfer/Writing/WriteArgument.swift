// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreJSON
package import FirestoreModel
package import FirestoreText

/// The mutations of `set`, `update` and `delete`.
package enum WriteArgument {
  /// Replaces the document, or merges every field that the content names.
  package static func set(_ key: DocumentKey, _ content: DocumentArgument.Content, merge: Bool) -> Mutation {
    guard merge else { return Mutation(key: key, operation: .set(content.fields), transforms: content.transforms) }
    let mask = FieldMask(content.fields.leaves)
    return Mutation(key: key, operation: .patch(content.fields, mask), transforms: content.transforms)
  }

  /// Changes fields of a document that exists. Each name is a path: `address.city` changes one field of a map.
  package static func update(
    _ key: DocumentKey, _ changes: [FieldChanges.Change], removing: [FieldPath], database: DatabaseID
  ) throws(CommandFailure) -> Mutation {
    try refuseOverlaps(changes.map(\.path) + removing)
    let (content, paths) = try content(of: changes, database: database)
    return Mutation(
      key: key, operation: .patch(content.fields, FieldMask(paths + removing)), precondition: .exists(true),
      transforms: content.transforms)
  }

  /// A document of fields that were given one by one.
  static func content(
    _ changes: [FieldChanges.Change], database: DatabaseID
  ) throws(CommandFailure) -> DocumentArgument.Content {
    try refuseOverlaps(changes.map(\.path))
    return try content(of: changes, database: database).content
  }

  /// - Returns: the fields and transforms, and the paths of the fields.
  private static func content(
    of changes: [FieldChanges.Change], database: DatabaseID
  ) throws(CommandFailure) -> (content: DocumentArgument.Content, paths: [FieldPath]) {
    var fields = Fields()
    var transforms: [FieldTransform] = []
    var paths: [FieldPath] = []
    for (path, syntax) in changes {
      let name = path.last
      let content: DocumentArgument.Content
      do throws(JSONError) {
        content = try DocumentJSON.fields(
          of: JSONSyntax(.object([JSONSyntax.Member(name, syntax)])), database: database)
      } catch {
        throw CommandFailure(.badData, "\(path.canonicalText): \(error.reason)")
      }
      transforms += content.transforms.map { transform in
        let inner = transform.path.segments.dropFirst()
        return FieldTransform(path: FieldPath(segments: path.segments + inner), operation: transform.operation)
      }
      // A transform of the field itself leaves nothing to replace.
      if content.transforms.contains(where: { $0.path.segments.count == 1 }) { continue }
      paths.append(path)
      if let value = content.fields[name] { fields[path] = value }
    }
    return ((fields, transforms), paths)
  }

  private static func refuseOverlaps(_ paths: [FieldPath]) throws(CommandFailure) {
    for (index, path) in paths.enumerated() {
      for other in paths[..<index] where other.isPrefix(of: path) || path.isPrefix(of: other) {
        throw CommandFailure(
          .usage, "\(other.canonicalText) and \(path.canonicalText) name the same field or one inside the other.")
      }
    }
  }
}

/// `field=value`, as `hearth update` takes it.
package enum FieldAssignment {
  /// - Returns: the field's path, and the value as JSON: a text that reads as JSON is that, all else what `ValueReader`
  ///   makes of it, but that a text may have slashes in it and be empty.
  package static func parse(_ text: String) throws(TextError) -> (path: FieldPath, value: JSONSyntax) {
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
    let path = try FieldPathText.parse(String(text[..<separator]))
    let start = text.unicodeScalars.index(after: separator)
    let column = text.unicodeScalars.distance(from: text.startIndex, to: start) + 1
    return (path, try value(String(text[start...]), column))
  }

  private static func value(_ text: String, _ column: Int) throws(TextError) -> JSONSyntax {
    do throws(JSONError) {
      return try JSONSyntax(parsing: text)
    } catch {
      // A text that begins like JSON was meant to be JSON.
      if let first = text.utf8.first, "{\"".utf8.contains(first) { throw TextError(error, from: column) }
      if let first = text.utf8.first, "['".utf8.contains(first) { return try quoted(text, column) }
      if text == "NaN" { return try JSONSyntax(of: .double(.nan)) }
      if let time = Timestamp(rfc3339: text) { return try JSONSyntax(of: .timestamp(time)) }
      if let typed = try TypedLiteral.syntax(text, column: column) { return typed }
      if let reason = PlainText.otherMeaning(ofWritten: text) {
        throw TextError(
          column: column, "\(reason) Text that reads so is written \(ShellText.typed("string:" + text)).")
      }
      return JSONSyntax(.string(text))
    }
  }

  /// A list with words in it, or a text in single quotes.
  private static func quoted(_ text: String, _ column: Int) throws(TextError) -> JSONSyntax {
    do throws(TextError) {
      return try JSONSyntax(of: try ValueReader(database: JSONSyntax.anyDatabase).value(of: text))
    } catch {
      throw error.moved(by: column - 1)
    }
  }
}

extension JSONSyntax {
  /// The database that references are relative to until it is known which is written to.
  fileprivate static let anyDatabase = DatabaseID(project: "any")

  fileprivate init(of value: Value) throws(TextError) {
    do throws(JSONError) { try self.init(parsing: DocumentJSON.line(of: value, relativeTo: Self.anyDatabase)) } catch {
      throw TextError(error.reason)
    }
  }
}

/// A document's fields as arguments, or on standard input where the only one is `-`.
package enum DocumentArgument {
  package typealias Content = (fields: Fields, transforms: [FieldTransform])

  /// - Parameter words: one JSON object, or `field=value` for each field.
  package static func read(_ words: [String], database: DatabaseID) throws(CommandFailure) -> Content {
    guard words.count == 1, !words[0].contains("=") || FieldChanges.isObject(words) else {
      return try WriteArgument.content(try FieldChanges.parse(words), database: database)
    }
    let text = words[0] == "-" ? try standardInput() : words[0]
    do throws(JSONError) {
      return try DocumentJSON.parse(text, database: database)
    } catch {
      throw CommandFailure(.badData, words[0] == "-" ? "standard input, \(error)" : "the document, \(error)")
    }
  }

  static func standardInput() throws(CommandFailure) -> String { try text(ofFile: "-") }

  /// The largest text of a document, a scenario or rules, in bytes.
  private static let largestText = 64 << 20

  /// - Parameter file: `-` for standard input.
  package static func text(ofFile file: String) throws(CommandFailure) -> String {
    var input = try InputBytes(file)
    var bytes: [UInt8] = []
    while true {
      let more = try input.read(1 << 20)
      if more.isEmpty { break }
      bytes += more
      // An input without an end, such as /dev/zero, would be read until the memory is used up.
      guard bytes.count <= largestText else {
        throw CommandFailure(.badData, "\(input.name) is larger than \(largestText >> 20) MiB, which no text needs.")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.badData, "\(input.name) is not UTF-8.")
    }
    return text
  }
}

/// The fields of a write as words: `field=value` for each, or one JSON object of paths and values, or `-` for one on
/// standard input.
package enum FieldChanges {
  package typealias Change = (path: FieldPath, value: JSONSyntax)

  static func isObject(_ words: [String]) -> Bool { words.count == 1 && (words[0] == "-" || words[0].hasPrefix("{")) }

  package static func parse(_ words: [String]) throws(CommandFailure) -> [Change] {
    if isObject(words) { return try object(words[0]) }
    var changes: [Change] = []
    for text in words {
      do throws(TextError) {
        changes.append(try FieldAssignment.parse(text))
      } catch {
        throw error.failure("", text)
      }
    }
    return changes
  }

  private static func object(_ argument: String) throws(CommandFailure) -> [Change] {
    let source = argument == "-" ? "standard input" : "the changes"
    let text = argument == "-" ? try DocumentArgument.standardInput() : argument
    let syntax: JSONSyntax
    do throws(JSONError) {
      syntax = try JSONSyntax(parsing: text)
    } catch {
      throw CommandFailure(.badData, "\(source), \(error)")
    }
    guard case .object(let members) = syntax.kind else {
      throw CommandFailure(.badData, "\(source): expected an object of paths and values, found \(syntax.kindName).")
    }
    var changes: [Change] = []
    for member in members { changes.append((try field(member.name), member.value)) }
    return changes
  }

  private static func field(_ text: String) throws(CommandFailure) -> FieldPath {
    do throws(ModelError) {
      return try FieldPath(validating: text)
    } catch {
      throw CommandFailure(.usage, error.message)
    }
  }
}
