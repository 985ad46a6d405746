// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
package import FirestoreQuery
import FirestoreText
import Glibc
import TerminalCanvas

/// Prints documents one after the other in a format. Not copyable, because a copy would also copy the documents that
/// wait until the columns are known.
package struct DocumentPrinter: ~Copyable {
  /// The path of the document if only one is printed. `nil` for the documents of a collection, and for several
  /// documents.
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
  /// The requested fields that no document has had so far.
  private var unseen: [FieldPath]

  /// The width of tables in columns if the output is not a terminal.
  private static let width = 120

  /// - Parameters:
  ///   - queries: the queries whose documents are printed in order.
  ///   - namesPaths: whether the path of each document is printed.
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

  /// - Returns: a note about the documents; `nil` for none.
  package mutating func finish() throws -> String? {
    let rows = delimited?.finish() ?? []
    try lines(rows)
    guard case .table = format else { return unseenNote }
    try output.write(table.finish().asLines())
    return tableNote + (unseenNote.map { " " + $0 } ?? "")
  }

  /// The note about requested fields that no document has. Such a field may be mistyped.
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
    return "\(table.count.documents). Not shown: \(names)\(more); use --select to choose columns."
  }
}

/// The format in which documents are printed.
package enum DocumentFormat: Sendable {
  /// A single document is printed as JSON. The documents of a collection are printed on one line each.
  case text
  case json
  case table
  /// A line for each field.
  case expanded
  case delimited(Delimiter)
  case template(OutputTemplate)
}

/// Documents as lines, for programs and for people.
package enum DocumentLine {
  /// `{"path": …, "data": …}`: the format that `export` writes and `import` reads.
  package static func json(_ key: DocumentKey, _ fields: Fields, in database: DatabaseID) -> String {
    "{\"path\": \(quoted(key.path.text)), \"data\": \(DocumentJSON.line(of: fields, relativeTo: database))}"
  }

  /// The JSON of a document that a mutation will write. It also names the fields that the backend computes.
  package static func json(_ mutation: Mutation, in database: DatabaseID) -> String {
    guard case .set(let fields) = mutation.operation else { return quoted(mutation.key.path.text) }
    let line = json(mutation.key, fields, in: database)
    if mutation.transforms.isEmpty { return line }
    let computed = mutation.transforms.map { quoted($0.path.canonicalText) }.joined(separator: ", ")
    return "\(line.dropLast()), \"computed\": [\(computed)]}"
  }

  /// The JSON of a document with its versions, as `get --json` prints it.
  static func jsonWithTimes(_ document: Document, namesPath: Bool, in database: DatabaseID) -> String {
    var members = namesPath ? ["\"path\": \(quoted(document.key.path.text))"] : []
    if let created = document.createTime { members.append("\"createTime\": \(quoted(created.timestamp.rfc3339Text))") }
    if let updated = document.version { members.append("\"updateTime\": \(quoted(updated.timestamp.rfc3339Text))") }
    if document.hasPendingWrites { members.append("\"pendingWrites\": true") }
    let data = document.data.map { DocumentJSON.line(of: $0.fields, relativeTo: database) } ?? "null"
    members.append("\"data\": \(data)")
    return "{\(members.joined(separator: ", "))}"
  }

  /// A line with the fields of a document and, optionally, its path.
  package static func text(_ document: Document, namesPath: Bool = true, in database: DatabaseID) -> ShownText {
    let data = document.data.map { DocumentJSON.line(of: $0.fields, relativeTo: database) } ?? "null"
    return namesPath ? "\(document.key.path.text)  \(json: data)" : "\(json: data)"
  }

  /// A JSON string.
  package static func quoted(_ text: String) -> String { JSONSyntax(.string(text)).lineText }
}

/// A document as one line for each field. Fields in maps are named by their paths.
enum ExpandedDocument {
  /// - Returns: the lines. The first line is the title.
  static func lines(_ document: Document, title: String, in database: DatabaseID) -> [ShownText] {
    let fields = document.data?.fields ?? Fields()
    let cells = fields.leaves.map { path in
      (SafeText.sanitized(path.canonicalText), fields[path].map { CellText.text($0, in: database) } ?? "")
    }
    let width = cells.map { SafeText.columns(of: $0.0) }.max() ?? 0
    return ["-[ \(title) ]-"]
      + cells.map { name, text in
        let space = String(repeating: " ", count: width - SafeText.columns(of: name) + 2)
        return "\(name)\(space)\(text)"
      }
  }
}
