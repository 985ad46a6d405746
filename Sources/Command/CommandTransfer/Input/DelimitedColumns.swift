// SPDX-License-Identifier: Apache-2.0
import CommandOutput
package import FirestoreJSON
package import FirestoreModel
package import FirestoreText

/// The columns of a file with comma- or tab-separated values. The names are in the first row. The types are inferred
/// from the first rows.
package struct DelimitedColumns: Sendable {
  package struct Column: Hashable, Sendable {
    /// The field in this column; `nil` for the column with the document's path.
    var field: FieldPath?
    var name: String
    var type: ColumnType
    /// Whether the user chose the type.
    var isTypeGiven = false
    /// Whether the column has no name. Spreadsheets write such columns if they are empty.
    var isNameless = false
  }

  let columns: [Column]
  private let delimiter: Delimiter
  private let database: DatabaseID
  private var hasPath: Bool { columns.contains { $0.field == nil && !$0.isNameless } }

  /// - Parameters:
  ///   - sample: the first rows. The first of them contains the names.
  ///   - isPlain: whether there is no path column. In this case `path` is an ordinary field.
  ///   - types: the types that the user has given, by field.
  /// - Throws: `JSONError` with the position in the file.
  init(
    _ sample: [InputRecord], _ delimiter: Delimiter, isPlain: Bool, types: [FieldPath: ColumnType],
    in database: DatabaseID
  ) throws(JSONError) {
    guard let first = sample.first else {
      throw JSONError(line: 1, column: 1, reason: "Expected a row of names, found the end of the file.")
    }
    let header = try DelimitedRow(first.bytes, delimiter)
    // Unreadable rows are reported when they are imported.
    let rows = sample.dropFirst().compactMap { try? DelimitedRow($0.bytes, delimiter).cells }
    var columns: [Column] = []
    for (index, cell) in header.cells.enumerated() {
      func error(_ reason: String) -> JSONError { JSONError(line: cell.line, column: cell.column, reason: reason) }
      if index == 0, cell.text.hasPrefix("sep=") {
        throw error("The line \"\(cell.text)…\" is for Excel. Remove it, and name the separator with --delimiter.")
      }
      if cell.text.isEmpty {
        columns.append(Column(field: nil, name: "", type: .string, isNameless: true))
        continue
      }
      if cell.text == "path", !isPlain {
        columns.append(Column(field: nil, name: "path", type: .string))
        continue
      }
      let field: FieldPath
      do throws(ModelError) { field = try FieldPath(validating: cell.text) } catch {
        throw JSONError(line: cell.line, column: cell.column, reason: "The column's name: \(error.message)")
      }
      for other in columns.compactMap(\.field) where other.isPrefix(of: field) || field.isPrefix(of: other) {
        throw error(
          "The columns \(other.canonicalText) and \(field.canonicalText) are one field, or one is inside the other.")
      }
      let cells = rows.compactMap { $0.indices.contains(index) && !$0[index].text.isEmpty ? $0[index].text : nil }
      columns.append(
        Column(
          field: field, name: cell.text, type: types[field] ?? .guess(cells), isTypeGiven: types[field] != nil))
    }
    for field in types.keys where !columns.contains(where: { $0.field == field }) {
      throw JSONError(line: 1, column: 1, reason: "--types: the file has no column \(field.canonicalText).")
    }
    (self.columns, self.delimiter, self.database) = (columns, delimiter, database)
    if !isPlain, !hasPath {
      throw JSONError(
        line: 1, column: 1, reason: "The file has no column named path. For plain documents, add --into COLLECTION.")
    }
  }

  /// The names and types of the columns: `n integer, name string`.
  var summary: String {
    columns.filter { $0.field != nil }.map { "\($0.name) \($0.type.rawValue)" }.joined(separator: ", ")
  }

  /// Whether all cells of a row are empty. Spreadsheets add such rows at the end.
  func isBlank(_ record: InputRecord) -> Bool {
    guard let row = try? DelimitedRow(record.bytes, delimiter) else { return false }
    return row.cells.count > 1 && row.cells.allSatisfy { $0.text.isEmpty && !$0.isQuoted }
  }

  /// A row as JSON for the import.
  /// - Throws: `JSONError` with the position in the row.
  func syntax(_ record: InputRecord) throws(JSONError) -> JSONSyntax {
    let row = try DelimitedRow(record.bytes, delimiter)
    if row.cells.count != columns.count {
      let last = row.cells[row.cells.count - 1]
      throw JSONError(
        line: last.line, column: last.column,
        reason: "The row has \(row.cells.count) cells, but the table has \(columns.count) columns.")
    }
    var fields = MemberTree()
    var path: String?
    for (cell, column) in zip(row.cells, columns) {
      guard let field = column.field else {
        if !column.isNameless {
          path = cell.text
        } else if !cell.text.isEmpty {
          throw JSONError(
            line: cell.line, column: cell.column, reason: "The column of this cell has no name in the first row.")
        }
        continue
      }
      do throws(TextError) {
        guard var value = try column.type.syntax(cell.text, isQuoted: cell.isQuoted, in: database) else { continue }
        (value.line, value.column) = (cell.line, cell.column)
        fields.set(value, at: field.segments[...])
      } catch {
        let advice =
          column.isTypeGiven
          ? "" : " The type is guessed from the first rows; --types \(column.name)=string accepts any text."
        throw JSONError(
          line: cell.line, column: cell.column, reason: "Column \(column.name): \(error.reason)\(advice)")
      }
    }
    let data = JSONSyntax(.object(fields.members), line: 1, column: 1)
    guard let path else { return data }
    let members = [JSONSyntax.Member("path", JSONSyntax(.string(path))), JSONSyntax.Member("data", data)]
    return JSONSyntax(.object(members), line: 1, column: 1)
  }
}

/// The members of an object. They are added by their paths.
private struct MemberTree {
  private enum Node {
    case value(JSONSyntax)
    case tree(MemberTree)
  }

  private var names: [String] = []
  private var nodes: [String: Node] = [:]

  mutating func set(_ value: JSONSyntax, at path: ArraySlice<String>) {
    guard let name = path.first else { return }
    if nodes[name] == nil { names.append(name) }
    if path.count == 1 {
      nodes[name] = .value(value)
    } else {
      var inner = MemberTree()
      if case .tree(let existing)? = nodes[name] { inner = existing }
      inner.set(value, at: path.dropFirst())
      nodes[name] = .tree(inner)
    }
  }

  var members: [JSONSyntax.Member] {
    names.compactMap { name -> JSONSyntax.Member? in
      switch nodes[name] {
      case .value(let value): JSONSyntax.Member(name, value)
      case .tree(let tree): JSONSyntax.Member(name, JSONSyntax(.object(tree.members), line: 1, column: 1))
      case nil: nil
      }
    }
  }
}

/// The type of the cells of a column.
package enum ColumnType: String, CaseIterable, Hashable, Codable, Sendable {
  case string, integer, double, boolean, timestamp, ref, bytes, geo, vector, json

  /// The most specific type that fits all cells. The type of an empty column is string.
  static func guess(_ cells: some Sequence<String>) -> ColumnType {
    var candidates: [ColumnType] = [.boolean, .integer, .double, .timestamp, .json]
    var (isEmpty, hasNull) = (true, false)
    for cell in cells {
      if cell == "null" {
        hasNull = true
        continue
      }
      isEmpty = false
      candidates.removeAll { !$0.fits(cell) }
      if candidates.isEmpty { break }
    }
    if isEmpty { return hasNull ? .json : .string }
    return candidates.first ?? .string
  }

  /// Whether the cell looks like a value of this type rather than like a string.
  private func fits(_ cell: String) -> Bool {
    switch self {
    // Spreadsheets write TRUE and FALSE, Python True and False.
    case .boolean: ["true", "false"].contains(cell.lowercased())
    case .integer: Self.isNumber(cell) && Int64(cell) != nil
    case .double: Self.isNumber(cell) && Double(cell) != nil && (Int64(cell) != nil || !Self.isWhole(cell))
    case .timestamp: Timestamp(rfc3339: cell) != nil
    // Text that fails to parse is not JSON, so the result is `false`.
    case .json: (cell.hasPrefix("{") || cell.hasPrefix("[")) && (try? JSONSyntax(parsing: cell)) != nil
    case .string, .ref, .bytes, .geo, .vector: false
    }
  }

  /// Whether a cell contains only digits. If the number needs more than 64 bits, a double would lose digits.
  private static func isWhole(_ cell: String) -> Bool { cell.utf8.allSatisfy { "-0123456789".utf8.contains($0) } }

  /// Whether a cell is a number in JSON syntax. A number with a leading zero or plus sign is a code, such as a
  /// telephone number.
  private static func isNumber(_ cell: String) -> Bool {
    cell.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/) != nil
  }

  /// - Returns: the cell as JSON; `nil` for an empty cell that is not a string.
  /// - Throws: `TextError` if the cell is not of this type.
  package func syntax(_ cell: String, isQuoted: Bool, in database: DatabaseID) throws(TextError) -> JSONSyntax? {
    if cell.isEmpty { return self == .string && isQuoted ? JSONSyntax(.string("")) : nil }
    if self == .string { return JSONSyntax(.string(cell)) }
    if cell == "null" { return JSONSyntax(.null) }
    let syntax: JSONSyntax
    switch self {
    case .boolean:
      guard let flag = ["true": true, "false": false][cell.lowercased()] else { throw misfit(cell) }
      return JSONSyntax(.boolean(flag))
    case .json:
      do throws(JSONError) { syntax = try JSONSyntax(parsing: cell) } catch { throw TextError(error.reason) }
      return syntax
    case .integer, .double, .timestamp, .ref, .bytes, .geo, .vector, .string:
      // The error would name a type prefix that the cell does not have.
      guard let typed = try? TypedLiteral.syntax("\(rawValue):\(cell)") else { throw misfit(cell) }
      syntax = typed
    }
    // The value must be valid in a document. An error position inside it would be meaningless in the file.
    do throws(JSONError) {
      _ = try DocumentJSON.parseValue(syntax.lineText, database: database)
    } catch {
      throw misfit(cell)
    }
    return syntax
  }

  private func misfit(_ cell: String) -> TextError {
    TextError("\(DocumentLine.quoted(String(cell.prefix(40)))) is not a valid \(rawValue).")
  }
}

/// Parses the argument of `--types`: `zip=string,born=timestamp`.
package enum ColumnTypesText {
  package static func parse(_ text: String) throws -> [FieldPath: ColumnType] {
    var types: [FieldPath: ColumnType] = [:]
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let mark = part.lastIndex(of: "=") else { throw TextError("Expected COLUMN=TYPE,… as in zip=string.") }
      let name = String(part[..<mark].trimming())
      guard let type = ColumnType(rawValue: String(part[part.index(after: mark)...].trimming())) else {
        let known = ColumnType.allCases.map(\.rawValue).joined(separator: ", ")
        throw TextError("\"\(part[part.index(after: mark)...])\" is not a type. Expected one of \(known).")
      }
      do throws(ModelError) { try types[FieldPath(validating: name)] = type } catch {
        throw TextError(error.message)
      }
    }
    return types
  }
}
