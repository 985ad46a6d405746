// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText
import Spelling
import TOMLReading
import TerminalTheme

/// The lines of one `[[listener]]`, read separately, so that a mistake costs no other listener.
struct ListenerBlock {
  private static let header = "[[listener]]"
  private static let keys = ["name", "path", "group", "where", "order", "limit", "source", "metadata"]

  /// The line of the header; for lines before any header, the first one with content.
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
      throw error("expected \(Self.header), and the lines of a listener below it")
    }
    let table = try table()
    let known = Set(Self.keys)
    if let key = table.keys.sorted().first(where: { !known.contains($0) }) {
      let hint = NearestName.suggestion(for: key, among: Self.keys).map { "did you mean \($0)?" }
      throw error(key, "unknown key \"\(key)\"; \(hint ?? "known are \(Self.keys.joined(separator: ", "))")")
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
    case (nil, nil): throw error("path or group is missing: the collection or document, or the id of a group")
    case (_?, _?): throw error("group", "path and group exclude each other")
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
    guard let text = value.string else { throw error(key, "\(key) must be a text in quotes") }
    return text
  }

  /// A string, or a list of strings.
  private func strings(_ key: String, in table: TOMLTable) throws(ListenerFileError) -> [String] {
    guard let value = table[key] else { return [] }
    let all = value.array.map { array in array.map(\.string) } ?? [value.string]
    let texts = all.compactMap(\.self)
    guard texts.count == all.count else { throw error(key, "\(key) must be a text in quotes, or a list of them") }
    return texts
  }

  private func error(_ reason: String) -> ListenerFileError { ListenerFileError(line: firstLine, reason: reason) }

  private func error(_ key: String, _ reason: String) -> ListenerFileError {
    ListenerFileError(line: firstLine + (SourceLines(text).line(of: key, in: nil) ?? 0), reason: reason)
  }
}
