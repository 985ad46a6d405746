// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import FirestoreJSON
package import FirestoreModel
package import FirestoreText

/// Creates the mutation of `hearth update`, and a document's contents from fields on the command line.
package enum WriteArgument {
  /// Changes fields of a document. The document must exist.
  package static func update(
    _ key: DocumentKey, _ changes: [WriteText.Change], removing: [FieldPath], database: DatabaseID
  ) throws(CommandFailure) -> Mutation {
    try refuseOverlaps(changes.map(\.path) + removing)
    do throws(JSONError) {
      return try WriteText.update(key, changes, removing: removing, database: database)
    } catch { throw CommandFailure(.badData, error.reason) }
  }

  /// A document whose fields were given as separate arguments.
  static func content(
    _ changes: [WriteText.Change], database: DatabaseID
  ) throws(CommandFailure) -> WriteText.Content {
    try refuseOverlaps(changes.map(\.path))
    do throws(JSONError) { return try WriteText.content(of: changes, database: database).content } catch {
      throw CommandFailure(.badData, error.reason)
    }
  }

  private static func refuseOverlaps(_ paths: [FieldPath]) throws(CommandFailure) {
    do throws(TextError) { try WriteText.refuseOverlaps(paths) } catch { throw CommandFailure(.usage, error.reason) }
  }
}

/// The fields of a document as arguments. If the only argument is `-`, they are read from standard input.
package enum DocumentArgument {
  /// - Parameter words: one JSON object, or a word `field=value` for each field.
  package static func read(_ words: [String], database: DatabaseID) throws(CommandFailure) -> WriteText.Content {
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

  /// The maximum size in bytes of the text of a document, a scenario or rules.
  private static let largestText = 64 << 20

  /// - Parameter file: `-` for standard input.
  package static func text(ofFile file: String) throws(CommandFailure) -> String {
    var input = try InputBytes(file)
    var bytes: [UInt8] = []
    while true {
      let more = try input.read(1 << 20)
      if more.isEmpty { break }
      bytes += more
      // An endless input, such as /dev/zero, would be read until memory is exhausted.
      guard bytes.count <= largestText else {
        throw CommandFailure(.badData, "\(input.name) is larger than the limit of \(largestText >> 20) MiB.")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.badData, "\(input.name) is not UTF-8.")
    }
    return text
  }
}

/// The fields of a write as words: `field=value` for each field, or one JSON object with paths and values. The word `-`
/// means a JSON object on standard input.
package enum FieldChanges {
  static func isObject(_ words: [String]) -> Bool { words.count == 1 && (words[0] == "-" || words[0].hasPrefix("{")) }

  package static func parse(_ words: [String]) throws(CommandFailure) -> [WriteText.Change] {
    if isObject(words) { return try object(words[0]) }
    var changes: [WriteText.Change] = []
    for text in words {
      do throws(TextError) {
        changes.append(try FieldAssignment.parse(text))
      } catch {
        throw error.failure("", text)
      }
    }
    return changes
  }

  private static func object(_ argument: String) throws(CommandFailure) -> [WriteText.Change] {
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
    var changes: [WriteText.Change] = []
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
