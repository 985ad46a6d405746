// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import Dashboard
package import DashboardModel
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery
import FirestoreText
import Foundation
import Glibc

/// Listeners as a file for people: TOML, with conditions and orders in the syntax of `--where` and `--order`.
package struct ListenerFile: Hashable, Sendable {
  package var definitions: [ListenerDefinition] = []
  /// The entries that were left out, each as `file:line: reason`, in the order of the lines.
  package var problems: [String] = []

  /// - Parameters:
  ///   - path: the path of a file that must exist.
  ///   - name: the file's name in problems.
  /// - Throws: `CommandFailure` for a file that cannot be read as text.
  package static func read(_ path: String, name: String, database: DatabaseID) throws(CommandFailure) -> ListenerFile {
    guard let data = FileManager.default.contents(atPath: path) else {
      // Foundation does not name the reason.
      let reason = access(path, R_OK) == 0 ? "it is no file" : String(cString: strerror(errno))
      throw CommandFailure(.noInput, "\(name) cannot be read: \(reason).")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw CommandFailure(.badData, "\(name) is not text in UTF-8.")
    }
    return parse(text, name: name, database: database)
  }

  package static func parse(_ text: String, name: String, database: DatabaseID) -> ListenerFile {
    var file = ListenerFile()
    var names: Set<String> = []
    for block in ListenerBlock.blocks(of: text) {
      do throws(ListenerFileError) {
        let definition = try block.definition(in: database)
        guard names.insert(definition.name).inserted else {
          throw ListenerFileError(line: block.firstLine, reason: "a listener before it is called \(definition.name)")
        }
        file.definitions.append(definition)
      } catch {
        file.problems.append("\(name):\(error.line): \(error.reason)")
      }
    }
    return file
  }

  // MARK: Writing

  /// - Parameter heading: a description of the file, for its first line.
  /// - Returns: the text, and the names of listeners that it cannot hold, because they have cursors.
  package static func text(
    of definitions: [ListenerDefinition], heading: String, database: DatabaseID
  ) -> (text: String, left: [String]) {
    var text = "# \(heading)\n"
    var left: [String] = []
    for definition in definitions {
      let lines = lines(of: definition, database)
      let block = lines.map { "\n[[listener]]\n" + $0.joined(separator: "\n") + "\n" } ?? ""
      let read = parse(block, name: "", database: database)
      if read.problems.isEmpty, read.definitions == [definition] { text += block } else { left.append(definition.name) }
    }
    return (text, left)
  }

  private static func lines(of definition: ListenerDefinition, _ database: DatabaseID) -> [String]? {
    let query = definition.query
    var lines = ["name = \(DocumentLine.quoted(definition.name))"]
    if let group = query.collectionGroup {
      guard query.path.isRoot else { return nil }
      lines.append("group = \(DocumentLine.quoted(group))")
    } else {
      lines.append("path = \(DocumentLine.quoted(query.path.text))")
    }
    let conditions = query.filters.map { ConditionText.text(of: $0, in: database) }
    if !conditions.isEmpty { lines.append("where = [\(conditions.map(quoted).joined(separator: ", "))]") }
    let orders = query.explicitOrderBy.map { order in
      order.path.canonicalText + (order.direction == .descending ? ":desc" : "")
    }
    if !orders.isEmpty { lines.append("order = [\(orders.map(quoted).joined(separator: ", "))]") }
    if let limit = query.limit { lines.append("limit = \(limit)") }
    if definition.options.source == .cache { lines.append("source = \"cache\"") }
    if !definition.options.includeMetadataChanges { lines.append("metadata = false") }
    return lines
  }

  /// A TOML string; in single quotes and without escapes if possible, which is easier to read.
  private static func quoted(_ text: String) -> String {
    let isLiteral = text.unicodeScalars.allSatisfy { $0 != "'" && $0.value >= 0x20 && $0.value != 0x7F }
    return isLiteral ? "'\(text)'" : DocumentLine.quoted(text)
  }
}

/// The reason why one listener of a file was left out.
struct ListenerFileError: Error, Hashable {
  /// The line in the file, counted from 1.
  var line: Int
  var reason: String
}
