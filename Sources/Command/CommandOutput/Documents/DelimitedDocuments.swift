// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Documents as rows of cells, with a first row of names: the path, then fields, those of maps by their paths.
/// It cannot be copied: each document that comes would copy all that wait.
struct DelimitedDocuments: ~Copyable {
  private let delimiter: Delimiter
  private let namesPaths: Bool
  private let database: DatabaseID
  /// The fields; `nil` until all documents are known.
  private var columns: [FieldPath]?
  private var hasHeader = false
  private var waiting: [Document] = []

  /// - Parameter columns: `nil` for all fields that any document has: then nothing is written before all documents came.
  init(_ delimiter: Delimiter, columns: [FieldPath]?, namesPaths: Bool = true, in database: DatabaseID) {
    self.delimiter = delimiter
    self.namesPaths = namesPaths
    self.columns = columns
    self.database = database
  }

  /// - Returns: the lines that can be written.
  mutating func add(_ document: Document) -> [String] {
    guard let columns else {
      waiting.append(document)
      return []
    }
    return header(columns) + [row(document, columns)]
  }

  /// - Returns: the other lines.
  mutating func finish() -> [String] {
    if let columns { return header(columns) }
    var paths: Set<FieldPath> = []
    for document in waiting { paths.formUnion(document.data?.fields.leaves ?? []) }
    // A map that is empty here and has fields there is a column as well as its fields are.
    let columns = paths.sorted()
    return header(columns) + waiting.map { row($0, columns) }
  }

  private mutating func header(_ columns: [FieldPath]) -> [String] {
    if hasHeader { return [] }
    hasHeader = true
    return [delimiter.line((namesPaths ? ["path"] : []) + columns.map(Self.name))]
  }

  /// A field that is called like the path is told from it by back-quotes.
  private static func name(of column: FieldPath) -> String {
    column == FieldPath("path") ? "`path`" : column.canonicalText
  }

  private func row(_ document: Document, _ columns: [FieldPath]) -> String {
    let fields = document.data?.fields ?? Fields()
    return delimiter.line(
      (namesPaths ? [document.key.path.text] : [])
        + columns.map { column in
          // The fields of a map have columns of their own, unless the map itself was asked for.
          guard let value = fields[column] else { return nil }
          if case .map(let inner) = value, !inner.isEmpty, hasColumns(below: column, columns) { return nil }
          return CellText.text(value, in: database)
        })
  }

  private func hasColumns(below column: FieldPath, _ columns: [FieldPath]) -> Bool {
    columns.contains { $0 != column && column.isPrefix(of: $0) }
  }
}

extension Fields {
  /// The paths of all values that are not maps, and of empty maps.
  package var leaves: [FieldPath] { leaves(below: []) }

  private func leaves(below parent: [String]) -> [FieldPath] {
    entries.flatMap { name, value -> [FieldPath] in
      if case .map(let inner) = value, !inner.isEmpty { return inner.leaves(below: parent + [name]) }
      return [FieldPath(segments: parent + [name])]
    }
  }
}
