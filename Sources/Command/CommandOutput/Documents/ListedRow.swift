// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import Glibc
import TerminalCanvas

/// A row about something other than a document, such as a collection, a field or a path.
package struct ListedRow: Hashable, Sendable {
  /// The cells with their names, in the same order for all rows. A cell whose text is `nil` is empty.
  package var cells: [Cell]
  /// The row as one JSON object.
  package var json: String
  /// The row as a line for people, without a table.
  package var line: ShownText

  package init(cells: [Cell], json: String, line: ShownText) {
    (self.cells, self.json, self.line) = (cells, json, line)
  }

  package struct Cell: Hashable, Sendable {
    package var name: String
    package var text: String?
    var isNumeric = false

    package init(_ name: String, _ text: String?) { (self.name, self.text) = (name, text) }

    package init(_ name: String, _ number: Int?) {
      (self.name, text, isNumeric) = (name, number.map { "\($0)" }, true)
    }
  }
}

/// A format for rows that are not documents.
package enum RowFormat: Sendable {
  case json
  case lines
  case table
  case delimited(Delimiter)
  case template(OutputTemplate)
}

package struct RowFormatOptions: ParsableArguments {
  @Flag(help: "Print JSON, one object per line.")
  package var json = false

  @Flag(help: "An aligned table, as on a terminal.")
  package var table = false

  @Flag(help: "Comma-separated values with a header row.")
  package var csv = false

  @Flag(help: "Tab-separated values with a header row.")
  package var tsv = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "One line per row from this template. Use the column names that --csv prints.", valueName: "text"))
  package var template: String?

  package mutating func validate() throws {
    try FormatOptions.checkChoice(json: json, table: table, csv: csv, tsv: tsv, template: template)
  }

  /// - Parameters:
  ///   - names: the names of the cells.
  ///   - usual: the default format.
  /// - Throws: a usage failure if the template is invalid or contains unknown names.
  package func format(_ names: [String], or usual: RowFormat) throws(CommandFailure) -> RowFormat {
    if let text = template {
      let template = try FormatOptions.parse(text)
      if let stranger = template.names.first(where: { !names.contains($0) }) {
        throw CommandFailure(
          .usage, "--template: unknown name {{\(stranger)}}. Use \(names.joined(separator: ", ")).")
      }
      return .template(template)
    }
    if json { return .json }
    if csv { return .delimited(.comma) }
    if tsv { return .delimited(.tab) }
    return table ? .table : usual
  }

  package init() {}
}

/// Prints rows one after the other in a format.
package struct RowPrinter {
  private let format: RowFormat
  private let output: OutputFile
  /// The names of the cells, the same for all rows.
  private let names: [String]
  private var waiting: [ListedRow] = []
  private var hasHeader = false

  /// - Parameter names: the names of the cells.
  package init(_ format: RowFormat, _ names: [String], to output: OutputFile) {
    (self.format, self.names, self.output) = (format, names, output)
  }

  package mutating func print(_ row: ListedRow) throws {
    switch format {
    case .json: try output.data(line: row.json)
    case .lines: try output.line(row.line)
    case .table: waiting.append(row)
    case .delimited(let delimiter):
      if !hasHeader { try output.data(line: delimiter.line(names)) }
      hasHeader = true
      try output.data(line: delimiter.line(row.cells.map(\.text)))
    case .template(let template):
      try output.data(line: template.text { name in row.cells.first { $0.name == name }?.text })
    }
  }

  /// Prints the remaining rows.
  package mutating func finish() throws {
    if case .delimited(let delimiter) = format, !hasHeader { try output.data(line: delimiter.line(names)) }
    if case .table = format, let first = waiting.first {
      // Columns that are empty in every row are omitted.
      let shown = first.cells.indices.filter { index in waiting.contains { $0.cells[index].text != nil } }
      var table = TextTable(
        shown.map { index in
          let cell = first.cells[index]
          return TextTable.Column(title: cell.name.uppercased(), alignment: cell.isNumeric ? .right : .left)
        })
      for row in waiting { table.add(shown.map { row.cells[$0].text ?? "" }) }
      // Lines fit the width of a terminal.
      for line in table.lines(width: TerminalSize(of: STDOUT_FILENO)?.columns) { try output.line(line) }
    }
    try output.flush()
  }
}

/// Rows of texts in aligned columns. Each column is as wide as its widest text.
package struct TextTable {
  package enum Alignment { case left, right }

  package struct Column {
    package var title: String
    package var alignment = Alignment.left

    package init(title: String, alignment: Alignment = Alignment.left) {
      (self.title, self.alignment) = (title, alignment)
    }
  }

  package let columns: [Column]
  package private(set) var rows: [[String]] = []

  package init(_ columns: [Column]) { self.columns = columns }

  /// - Parameter texts: a text of any origin for each column.
  package mutating func add(_ texts: [String]) { rows.append(texts.map(SafeText.sanitized)) }

  /// The titles and the rows, without trailing space.
  /// - Parameter width: the largest width in terminal columns; longer lines are truncated. `nil` for no limit.
  package func lines(width: Int? = nil) -> [ShownText] {
    let all = [columns.map { SafeText.sanitized($0.title) }] + rows
    let widths = columns.indices.map { column in all.map { SafeText.columns(of: $0[column]) }.max() ?? 0 }
    return all.map { row in
      var line = ""
      for (index, text) in row.enumerated() {
        let space = String(repeating: " ", count: widths[index] - SafeText.columns(of: text))
        line += (index == 0 ? "" : "  ") + (columns[index].alignment == .left ? text + space : space + text)
      }
      let end = line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex
      let trimmed = String(line[..<end])
      // The parts of the line are already escaped.
      return ShownText(verbatim: width.map { SafeText.truncated(trimmed, to: $0) } ?? trimmed)
    }
  }
}
