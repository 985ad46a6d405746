// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
package import FirestoreQuery
import Glibc

/// Prints documents one after the other in a format. There is one of it: documents that wait for their columns would be
/// copied with it.
package struct DocumentPrinter: ~Copyable {
  private let query: Query
  private let database: DatabaseID
  private let format: DocumentFormat
  private let selection: FieldSelection?
  private let output: OutputFile
  private var table: DocumentTable
  private var delimited: DelimitedDocuments?
  private var count = 0
  package var isEmpty: Bool { count == 0 }
  /// Fields that are to be shown and that no document has had so far.
  private var unseen: [FieldPath]

  /// Tables on no terminal are as wide as this.
  private static let width = 120

  package init(
    _ query: Query, _ format: DocumentFormat, _ selection: FieldSelection?, in database: DatabaseID,
    to output: OutputFile
  ) {
    (self.query, self.format, self.selection, self.database, self.output) = (query, format, selection, database, output)
    if case .template(let template) = format {
      unseen = (template.fields ?? []).sorted()
    } else {
      unseen = selection?.paths.filter { !$0.isDocumentID } ?? []
    }
    let size = TerminalSize(of: STDOUT_FILENO)
    table = DocumentTable(
      of: query, selection, width: size?.columns ?? Self.width, size == nil ? .none : .ofProcess(), in: database)
    if case .delimited(let delimiter) = format {
      delimited = DelimitedDocuments(delimiter, columns: selection?.paths, in: database)
    }
  }

  package mutating func print(_ found: Document) throws {
    var document = found
    count += 1
    if !unseen.isEmpty { unseen.removeAll { found[$0] != nil } }
    if let selection, let data = found.data {
      document.state = .found(DocumentData(selection.fields(of: data.fields)))
    }
    switch format {
    case .json: try output.data(line: DocumentLine.jsonWithTimes(document, in: database))
    case .table: try output.write(table.add(document).asLines())
    case .delimited:
      let rows = delimited?.add(document) ?? []
      try lines(rows)
    case .expanded: for line in ExpandedDocument.lines(document, in: database) { try output.line(line) }
    case .template(let template): try output.data(line: template.text(for: found, in: database))
    case .text:
      guard query.isDocumentQuery, let data = document.data else {
        return try output.line(DocumentLine.text(document, in: database))
      }
      try output.line(ShownText(json: DocumentJSON.text(of: data.fields, relativeTo: database)))
    }
  }

  /// - Returns: a note beside the data; `nil` for none.
  package mutating func finish() throws -> String? {
    let rows = delimited?.finish() ?? []
    try lines(rows)
    guard case .table = format else { return unseenNote }
    try output.write(table.finish().asLines())
    return tableNote + (unseenNote.map { " " + $0 } ?? "")
  }

  /// A mistyped name looks like a field that happens to be absent.
  private var unseenNote: String? {
    if unseen.isEmpty || count == 0 { return nil }
    let names = unseen.map(\.canonicalText).joined(separator: " or ")
    return query.isDocumentQuery ? "\(query.path) has no \(names)." : "No document here has \(names)."
  }

  private func lines(_ lines: [String]) throws {
    for line in lines { try output.data(line: line) }
  }

  private var tableNote: String {
    let left = table.leftOut
    if left.isEmpty { return "\(table.count.documents)." }
    let names = left.prefix(8).map(\.canonicalText).joined(separator: ", ")
    let more = left.count > 8 ? " and \(left.count - 8) more" : ""
    return "\(table.count.documents). Without a column: \(names)\(more); --select chooses."
  }
}
