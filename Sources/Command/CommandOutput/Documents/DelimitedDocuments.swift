// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
import FirestoreText

/// Documents as rows of cells. The first row contains the column names: the path, then the fields. Fields in maps are
/// named by their paths. Not copyable, because each added document would otherwise copy all waiting documents.
struct DelimitedDocuments: ~Copyable {
  private let delimiter: Delimiter
  private let namesPaths: Bool
  private let database: DatabaseID
  /// The columns; `nil` until all documents have been added.
  private var columns: [FieldPath]?
  private var hasHeader = false
  private var waiting: [Document] = []

  /// - Parameter columns: the fields; `nil` for all fields of all documents. In this case the output starts only after
  ///   the last document.
  init(_ delimiter: Delimiter, columns: [FieldPath]?, namesPaths: Bool = true, in database: DatabaseID) {
    self.delimiter = delimiter
    self.namesPaths = namesPaths
    self.columns = columns
    self.database = database
  }

  /// - Returns: the lines that can be written now.
  mutating func add(_ document: Document) -> [String] {
    guard let columns else {
      waiting.append(document)
      return []
    }
    return header(columns) + [row(document, columns)]
  }

  /// - Returns: the remaining lines.
  mutating func finish() -> [String] {
    if let columns { return header(columns) }
    var paths: Set<FieldPath> = []
    for document in waiting { paths.formUnion(document.data?.fields.leaves ?? []) }
    // A map that is empty in one document and has fields in another is a column in addition to its fields.
    let columns = paths.sorted()
    return header(columns) + waiting.map { row($0, columns) }
  }

  private mutating func header(_ columns: [FieldPath]) -> [String] {
    if hasHeader { return [] }
    hasHeader = true
    return [delimiter.line((namesPaths ? ["path"] : []) + columns.map(Self.name))]
  }

  /// The column name of a field. If the field has the name of the path column, it is written in back-quotes.
  private static func name(of column: FieldPath) -> String {
    column == FieldPath("path") ? "`path`" : column.canonicalText
  }

  private func row(_ document: Document, _ columns: [FieldPath]) -> String {
    let fields = document.data?.fields ?? Fields()
    return delimiter.line(
      (namesPaths ? [document.key.path.text] : [])
        + columns.map { column in
          // The fields of a map have separate columns, unless the map itself was requested.
          guard let value = fields[column] else { return nil }
          if case .map(let inner) = value, !inner.isEmpty, hasColumns(below: column, columns) { return nil }
          return CellText.text(value, in: database)
        })
  }

  private func hasColumns(below column: FieldPath, _ columns: [FieldPath]) -> Bool {
    columns.contains { $0 != column && column.isPrefix(of: $0) }
  }
}

/// The text of a value in a cell. Values that JSON writes in quotes or in a `$` object are written without them. Maps
/// and lists are written as JSON.
package enum CellText {
  /// - Parameter database: references into this database are written as paths, and other references as full names.
  package static func text(_ value: Value, in database: DatabaseID) -> String {
    switch value {
    case .string(let text): text
    case .timestamp(let time): time.rfc3339Text
    case .bytes(let bytes): Base64.encode(bytes)
    case .reference(let owner, let key): owner == database ? key.path.text : owner.name(of: key)
    case .geoPoint(let point): "\(point.latitude),\(point.longitude)"
    case .double(let number) where !number.isFinite:
      number.isNaN ? "NaN" : number > 0 ? "Infinity" : "-Infinity"
    default: DocumentJSON.line(of: value, relativeTo: database)
    }
  }
}

/// The way to separate and escape the cells of a row.
package enum Delimiter: Hashable, Sendable {
  /// RFC 4180, with a comma or another ASCII character. A cell is quoted if it contains the delimiter, a quote or a
  /// line end. The empty text is also quoted, to distinguish it from a missing value.
  case quoted(UInt8)
  /// Tabs, line ends and backslashes in a cell are escaped: `\t`, `\n`, `\r`, `\\`.
  case tab

  package static let comma = Delimiter.quoted(UInt8(ascii: ","))

  /// - Parameter cells: the texts of the cells; `nil` for a missing value.
  package func line(_ cells: [String?]) -> String {
    switch self {
    case .quoted(let sign):
      cells.map { $0.map { Self.quoted($0, sign) } ?? "" }.joined(separator: String(UnicodeScalar(sign)))
    case .tab: cells.map { $0.map(Self.escaped) ?? "" }.joined(separator: "\t")
    }
  }

  private static func quoted(_ text: String, _ sign: UInt8) -> String {
    let needsQuotes = text.utf8.contains { [0x22, sign, 0x0A, 0x0D].contains($0) }
    let hasSpace = text.utf8.first == 0x20 || text.utf8.last == 0x20
    guard text.isEmpty || needsQuotes || hasSpace else { return text }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }

  private static func escaped(_ text: String) -> String {
    if !text.utf8.contains(where: { [0x09, 0x0A, 0x0D, 0x5C].contains($0) }) { return text }
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
      case "\t": escaped.append(contentsOf: "\\t".unicodeScalars)
      case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
      case "\r": escaped.append(contentsOf: "\\r".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}
