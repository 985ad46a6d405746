// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// Documents as an aligned table for a terminal, with names, types, and a row for each document. The first documents
/// determine the columns and their widths.
struct DocumentTable {
  /// The number of documents that determine the columns.
  private static let sample = 500
  /// The limits of column widths: the largest initial width, and the smallest width to which a column is narrowed.
  private static let (widest, narrowest) = (40, 8)

  private struct Column {
    let path: FieldPath
    let title: String
    var type = ""
    var width = 0
    var isNumeric = true
  }

  /// The first column, which identifies a document.
  enum Naming: Hashable, Sendable {
    case id, path, nothing
  }

  private let database: DatabaseID
  private let selection: [FieldPath]?
  private let width: Int
  private let paint: TerminalPaint
  private let naming: Naming
  private var waiting: [Document] = []
  private var columns: [Column]?
  private var nameWidth = 0
  private var left: Set<FieldPath> = []
  private(set) var count = 0

  /// - Parameter width: the width of the terminal, in columns.
  init(
    namedBy naming: Naming, _ selection: FieldSelection?, width: Int, _ paint: TerminalPaint, in database: DatabaseID
  ) {
    self.database = database
    self.selection = selection?.paths
    self.width = width
    self.paint = paint
    self.naming = naming
  }

  /// The fields that have no column, either because the table would be too wide or because the first documents lack
  /// them.
  var leftOut: [FieldPath] { left.sorted() }

  /// - Returns: the lines that can be written now.
  mutating func add(_ document: Document) -> [ShownText] {
    count += 1
    if let columns { return [row(document, columns)] }
    waiting.append(document)
    return waiting.count < Self.sample ? [] : layOut()
  }

  /// - Returns: the remaining lines.
  mutating func finish() -> [ShownText] { columns == nil && !waiting.isEmpty ? layOut() : [] }

  // MARK: Columns

  private mutating func layOut() -> [ShownText] {
    let documents = waiting
    let names = documents.map(name)
    nameWidth =
      naming == .nothing
      ? 0 : min(max(4, names.map { SafeText.columns(of: $0) }.max() ?? 0), max(Self.narrowest, width / 2))
    var columns = paths().map(column)
    fit(&columns)
    self.columns = columns
    let title = naming == .nothing ? "" : naming == .path ? "PATH" : "ID"
    let header = line(title, columns.map { ($0.title, .textStrong) }, .textStrong, columns)
    let types = line("", columns.map { ($0.type, .textMuted) }, .textMuted, columns)
    waiting = []
    return [header, types] + documents.map { row($0, columns) }
  }

  private func paths() -> [FieldPath] {
    if let selection { return selection }
    let fields = waiting.reduce(into: Set<String>()) { $0.formUnion(($1.data?.fields.entries ?? []).map(\.name)) }
    return fields.map { FieldPath($0) }.sorted()
  }

  private func column(_ path: FieldPath) -> Column {
    var column = Column(path: path, title: SafeText.sanitized(path.canonicalText))
    var types: Set<String> = []
    for value in waiting.lazy.compactMap({ $0[path] }) {
      types.insert(value.typeName)
      column.isNumeric = column.isNumeric && value.isNumber
      column.width = max(column.width, SafeText.columns(of: CellText.text(value, in: database)))
    }
    column.type = types.count == 1 ? types.first ?? "" : types.isEmpty ? "" : "mixed"
    column.isNumeric = column.isNumeric && !types.isEmpty
    column.width = min(max(column.width, column.title.count, column.type.count), Self.widest)
    return column
  }

  /// Narrows the widest columns. If that is not enough, drops the last columns.
  private mutating func fit(_ columns: inout [Column]) {
    func total() -> Int { columns.reduce(nameWidth) { $0 + 2 + $1.width } }
    while total() > width, let widest = columns.indices.max(by: { columns[$0].width < columns[$1].width }),
      columns[widest].width > Self.narrowest
    {
      columns[widest].width -= 1
    }
    while total() > width, let last = columns.popLast() { left.insert(last.path) }
  }

  // MARK: Rows

  private func name(_ document: Document) -> String {
    if naming == .nothing { return "" }
    return SafeText.sanitized(naming == .path ? document.key.path.text : document.key.documentID)
  }

  private mutating func row(_ document: Document, _ columns: [Column]) -> ShownText {
    if selection == nil {
      for entry in document.data?.fields.entries ?? []
      where !columns.contains(where: { $0.path.segments == [entry.name] }) {
        left.insert(FieldPath(entry.name))
      }
    }
    let cells = columns.map { column -> (String, Role) in
      guard let value = document[column.path] else { return ("", .text) }
      return (SafeText.sanitized(CellText.text(value, in: database)), value.role)
    }
    return line(name(document), cells, .textStrong, columns)
  }

  private func line(
    _ name: String, _ cells: [(text: String, role: Role)], _ role: Role, _ columns: [Column]
  ) -> ShownText {
    var parts = naming == .nothing ? [] : [padded(name, nameWidth, role, isRight: false).text]
    for (cell, column) in zip(cells, columns) {
      parts.append(padded(cell.text, column.width, cell.role, isRight: column.isNumeric).text)
    }
    var line = parts.joined(separator: "  ")
    while line.last == " " { line.removeLast() }
    // The parts of the line are already escaped.
    return ShownText(verbatim: line)
  }

  private func padded(_ text: String, _ width: Int, _ role: Role, isRight: Bool) -> ShownText {
    let shown = SafeText.truncated(text, to: width)
    let space = String(repeating: " ", count: width - SafeText.columns(of: shown))
    let painted = paint.text(ShownText(shown), role)
    return isRight ? "\(space)\(painted)" : "\(painted)\(space)"
  }
}
