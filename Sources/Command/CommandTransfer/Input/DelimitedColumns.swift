// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreJSON
import FirestoreModel
import FirestoreText

/// The columns of a file of comma- or tab-separated values: the names of the first row, and types that the first rows
/// suggest.
package struct DelimitedColumns: Sendable {
  package struct Column: Hashable, Sendable {
    /// `nil` for the column that names the document's path.
    var field: FieldPath?
    var name: String
    var type: ColumnType
    /// Whether a user said so.
    var isTypeGiven = false
  }

  let columns: [Column]
  private let delimiter: Delimiter
  private let database: DatabaseID
  private var hasPath: Bool { columns.contains { $0.field == nil } }

  /// - Parameters:
  ///   - sample: the first rows, beginning with the names.
  ///   - isPlain: whether documents do not name their paths, so that `path` is a field like others.
  ///   - types: the types of columns, by their fields.
  /// - Throws: `JSONError` with the place in the file.
  init(
    _ sample: [InputRecord], _ delimiter: Delimiter, isPlain: Bool, types: [FieldPath: ColumnType],
    in database: DatabaseID
  ) throws(JSONError) {
    guard let first = sample.first else {
      throw JSONError(line: 1, column: 1, reason: "Expected a row of names, found the end of the file.")
    }
    let header = try DelimitedRow(first.bytes, delimiter)
    // Rows that cannot be read are told when they are to be imported.
    let rows = sample.dropFirst().compactMap { try? DelimitedRow($0.bytes, delimiter).cells }
    var columns: [Column] = []
    for (index, cell) in header.cells.enumerated() {
      func error(_ reason: String) -> JSONError { JSONError(line: cell.line, column: cell.column, reason: reason) }
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
          "The columns \(other.canonicalText) and \(field.canonicalText) name the same field or one inside it.")
      }
      let cells = rows.compactMap { $0.indices.contains(index) && !$0[index].text.isEmpty ? $0[index].text : nil }
      columns.append(
        Column(
          field: field, name: cell.text, type: types[field] ?? .guess(cells), isTypeGiven: types[field] != nil))
    }
    for field in types.keys where !columns.contains(where: { $0.field == field }) {
      throw JSONError(line: 1, column: 1, reason: "There is no column \(field.canonicalText), of which --types speaks.")
    }
    (self.columns, self.delimiter, self.database) = (columns, delimiter, database)
    if !isPlain, !hasPath {
      throw JSONError(line: 1, column: 1, reason: "There is no column path; say --into COLLECTION for plain documents.")
    }
  }

  /// `n integer, name string`
  var summary: String {
    columns.filter { $0.field != nil }.map { "\($0.name) \($0.type.rawValue)" }.joined(separator: ", ")
  }

  /// A row as the JSON that an import reads.
  /// - Throws: `JSONError` with the place in the row.
  func syntax(_ record: InputRecord) throws(JSONError) -> JSONSyntax {
    let row = try DelimitedRow(record.bytes, delimiter)
    if row.cells.count != columns.count {
      let last = row.cells[row.cells.count - 1]
      throw JSONError(
        line: last.line, column: last.column,
        reason: "The row has \(row.cells.count) cells, and there are \(columns.count) columns.")
    }
    var fields = MemberTree()
    var path: String?
    for (cell, column) in zip(row.cells, columns) {
      guard let field = column.field else {
        path = cell.text
        continue
      }
      do throws(TextError) {
        guard var value = try column.type.syntax(cell.text, isQuoted: cell.isQuoted, in: database) else { continue }
        (value.line, value.column) = (cell.line, cell.column)
        fields.set(value, at: field.segments[...])
      } catch {
        let advice =
          column.isTypeGiven ? "" : " The first rows suggest it; --types \(column.name)=string takes any text."
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

/// Members of an object that are given by their paths.
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
