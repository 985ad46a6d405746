// SPDX-License-Identifier: Apache-2.0
import CommandOptions
package import CommandOutput
import Dashboard
package import DashboardModel
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery
import FirestoreText
import Foundation
import Glibc
import Spelling
import TOMLReading
import TerminalTheme

/// A file with listeners that the user can edit. The format is TOML. Conditions and orders have the syntax of `--where`
/// and `--order`.
package struct ListenerFile: Hashable, Sendable {
  package var definitions: [ListenerDefinition] = []
  /// The entries that were skipped, in the form `file:line: reason` and in line order.
  package var problems: [String] = []

  /// - Parameters:
  ///   - path: the path of a file that must exist.
  ///   - name: the file's name in problems.
  /// - Throws: `CommandFailure` for a file that cannot be read as text.
  package static func read(_ path: String, name: String, database: DatabaseID) throws(CommandFailure) -> ListenerFile {
    guard let data = FileManager.default.contents(atPath: path) else {
      // Foundation does not report why the file cannot be read.
      let reason = access(path, R_OK) == 0 ? "it is not a file" : String(cString: strerror(errno))
      throw CommandFailure(.noInput, "\(name) cannot be read: \(reason).")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw CommandFailure(.badData, "\(name) is not UTF-8 text.")
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
          throw ListenerFileError(line: block.firstLine, reason: "an earlier listener is called \(definition.name)")
        }
        file.definitions.append(definition)
      } catch {
        file.problems.append("\(name):\(error.line): \(error.reason)")
      }
    }
    return file
  }

  // MARK: Writing

  /// - Parameter heading: a description of the file, which is written in its first line.
  /// - Returns: the text, and the names of listeners that cannot be written because they have cursors.
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

  /// A TOML string. Uses single quotes if possible, because they need no escapes.
  private static func quoted(_ text: String) -> String {
    let isLiteral = text.unicodeScalars.allSatisfy { $0 != "'" && $0.value >= 0x20 && $0.value != 0x7F }
    return isLiteral ? "'\(text)'" : DocumentLine.quoted(text)
  }
}

/// The reason why one listener of a file was skipped.
struct ListenerFileError: Error, Hashable {
  /// The line in the file, counted from 1.
  var line: Int
  var reason: String
}

/// The lines of one `[[listener]]` section. Each section is parsed separately, so that an error affects no other
/// listener.
struct ListenerBlock {
  private static let header = "[[listener]]"
  private static let keys = ["name", "path", "group", "where", "order", "limit", "source", "metadata"]

  /// The line of the section's header. If the lines are before any header, this is the first non-empty line.
  let firstLine: Int
  private let hasHeader: Bool
  private let text: String

  static func blocks(of text: String) -> [ListenerBlock] {
    var blocks: [ListenerBlock] = []
    var lines: [Substring] = []
    var first = 1
    var hasHeader = false
    func end() {
      let says = lines.firstIndex { line in
        let line = line.trimming()
        return !line.isEmpty && !line.hasPrefix("#")
      }
      if !hasHeader, says == nil { return }
      blocks.append(
        ListenerBlock(
          firstLine: hasHeader ? first : first + (says ?? 0), hasHeader: hasHeader,
          text: lines.joined(separator: "\n")))
    }
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let rest = line.trimming().filter { !$0.isWhitespace }
      if rest == header || rest.hasPrefix(header + "#") {
        end()
        (lines, first, hasHeader) = ([], index + 1, true)
      } else {
        lines.append(line)
      }
    }
    end()
    return blocks
  }

  func definition(in database: DatabaseID) throws(ListenerFileError) -> ListenerDefinition {
    guard hasHeader else {
      throw error("expected \(Self.header), then the lines of a listener")
    }
    let table = try table()
    let known = Set(Self.keys)
    if let key = table.keys.sorted().first(where: { !known.contains($0) }) {
      let hint = NearestName.suggestion(for: key, among: Self.keys).map { "did you mean \($0)?" }
      throw error(key, "unknown key \"\(key)\"; \(hint ?? "known keys: \(Self.keys.joined(separator: ", "))")")
    }
    let query = try query(table, database)
    let name = try string("name", in: table)
    if let name, name.trimming().isEmpty { throw error("name", "name is empty") }
    if let name, name.contains(where: \.isNewline) { throw error("name", "name must be one line") }
    return ListenerDefinition(
      name: name.map { String($0.trimming()) } ?? ListenerRecord.defaultName(for: query), query: query,
      options: try options(table))
  }

  // MARK: Parts

  private func query(_ table: TOMLTable, _ database: DatabaseID) throws(ListenerFileError) -> Query {
    var query: Query
    switch (try string("path", in: table), try string("group", in: table)) {
    case (let path?, nil):
      do throws(CommandFailure) { query = Query(path: try DataPath.any(path)) } catch {
        throw self.error("path", "path: \(error.message)")
      }
    case (nil, let group?): query = Query(path: .root, collectionGroup: group)
    case (nil, nil):
      throw error("path or group is missing: set a collection or document, or the id of a collection group")
    case (_?, _?): throw error("group", "path and group cannot be combined")
    }
    for text in try strings("where", in: table) {
      do throws(TextError) {
        query.filters += try ConditionText.parse(text, of: query, database: database)
      } catch {
        throw self.error("where", "where '\(text)': \(error)")
      }
    }
    for text in try strings("order", in: table) {
      do throws(TextError) { query.explicitOrderBy += try OrderText.parse(text) } catch {
        throw self.error("order", "order '\(text)': \(error)")
      }
    }
    if let value = table["limit"] {
      guard let limit = value.int, limit > 0 else { throw error("limit", "limit must be a positive number") }
      query.limit = limit
    }
    let isRestricted = !query.filters.isEmpty || !query.explicitOrderBy.isEmpty || query.limit != nil
    if query.isDocumentQuery, isRestricted {
      throw error("path", "\(query.path.text) is a document: it has no conditions, order or limit")
    }
    do throws(QueryError) { try query.validate() } catch { throw self.error(error.message) }
    return query
  }

  private func options(_ table: TOMLTable) throws(ListenerFileError) -> ListenerOptions {
    var options = ListenerOptions(includeMetadataChanges: true)
    switch try string("source", in: table) {
    case nil, "default"?: break
    case "cache"?: options.source = .cache
    case _?: throw error("source", "source must be \"default\" or \"cache\"")
    }
    if let value = table["metadata"] {
      guard let flag = value.bool else { throw error("metadata", "metadata must be true or false") }
      options.includeMetadataChanges = flag
    }
    return options
  }

  // MARK: TOML

  private func table() throws(ListenerFileError) -> TOMLTable {
    do throws(TOMLError) { return try TOMLTable(parsing: text) } catch {
      throw ListenerFileError(line: firstLine + error.line, reason: "\(error)")
    }
  }

  private func string(_ key: String, in table: TOMLTable) throws(ListenerFileError) -> String? {
    guard let value = table[key] else { return nil }
    guard let text = value.string else { throw error(key, "\(key) must be text in quotes") }
    return text
  }

  /// A string or a list of strings.
  private func strings(_ key: String, in table: TOMLTable) throws(ListenerFileError) -> [String] {
    guard let value = table[key] else { return [] }
    let all = value.array.map { array in array.map(\.string) } ?? [value.string]
    let texts = all.compactMap(\.self)
    guard texts.count == all.count else { throw error(key, "\(key) must be text in quotes, or a list of texts") }
    return texts
  }

  private func error(_ reason: String) -> ListenerFileError { ListenerFileError(line: firstLine, reason: reason) }

  private func error(_ key: String, _ reason: String) -> ListenerFileError {
    ListenerFileError(line: firstLine + (SourceLines(text).line(of: key, in: nil) ?? 0), reason: reason)
  }
}
