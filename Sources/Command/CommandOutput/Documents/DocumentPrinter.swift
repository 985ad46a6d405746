// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
package import FirestoreQuery
import Glibc

/// Prints documents one after the other in a format. There is one of it: documents that wait for their columns would be
/// copied with it.
package struct DocumentPrinter: ~Copyable {
  /// The document that is printed alone; `nil` for those of a collection, and for several.
  private let onlyDocument: ResourcePath?
  private let namesPaths: Bool
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

  /// - Parameters:
  ///   - queries: the queries whose documents are printed, one after the other.
  ///   - namesPaths: whether documents are printed with their paths.
  package init(
    _ queries: [Query], _ format: DocumentFormat, _ selection: FieldSelection?, namesPaths: Bool = true,
    in database: DatabaseID, to output: OutputFile
  ) {
    let only = queries.count == 1 ? queries[0] : nil
    onlyDocument = only?.isDocumentQuery == true ? only?.path : nil
    (self.format, self.selection, self.namesPaths) = (format, selection, namesPaths)
    (self.database, self.output) = (database, output)
    if case .template(let template) = format {
      unseen = (template.fields ?? []).sorted()
    } else {
      unseen = selection?.paths.filter { !$0.isDocumentID } ?? []
    }
    let size = TerminalSize(of: STDOUT_FILENO)
    table = DocumentTable(
      namedBy: !namesPaths ? .nothing : only == nil || only?.collectionGroup != nil ? .path : .id, selection,
      width: size?.columns ?? Self.width, size == nil ? .none : .ofProcess(), in: database)
    if case .delimited(let delimiter) = format {
      delimited = DelimitedDocuments(delimiter, columns: selection?.paths, namesPaths: namesPaths, in: database)
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
    case .json: try output.data(line: DocumentLine.jsonWithTimes(document, namesPath: namesPaths, in: database))
    case .table: try output.write(table.add(document).asLines())
    case .delimited:
      let rows = delimited?.add(document) ?? []
      try lines(rows)
    case .expanded:
      let title = namesPaths ? document.key.path.text : "\(count)"
      for line in ExpandedDocument.lines(document, title: title, in: database) { try output.line(line) }
    case .template(let template): try output.data(line: template.text(for: found, in: database))
    case .text:
      guard onlyDocument != nil, let data = document.data else {
        return try output.line(DocumentLine.text(document, namesPath: namesPaths, in: database))
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
    return onlyDocument.map { "\($0) has no \(names)." } ?? "No document here has \(names)."
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
