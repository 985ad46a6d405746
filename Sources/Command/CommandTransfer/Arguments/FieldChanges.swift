// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreJSON
package import FirestoreModel
import FirestoreText

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
