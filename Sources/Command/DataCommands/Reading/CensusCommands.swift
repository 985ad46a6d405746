// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import FirestoreQuery
import Foundation

/// `hearth schema`: the fields of documents and their types.
package struct SchemaCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "List the fields of a collection's documents, and their types.",
    discussion: """
      Reads all documents that the query finds, so add --limit if reads cost money. For each field it prints how many \
      documents have it, its types with their counts, and outliers. Outliers are types, missing fields and stray \
      fields in at most 2 % of the documents; each is printed with its first document. Fields of maps in arrays are \
      not included.

      With --json, prints an object for each field: field, present, documents, types (type, count, first), \
      firstWithout. With --csv, --tsv and --template: field, present, documents, types, outliers.

      Example: hearth schema orders --limit 10000
      """)

  @OptionGroup var queried: QueriedPath
  @OptionGroup var options: CensusOptions

  package init() {}

  package mutating func run() async throws {
    let locations = options.storage.locations
    let query = try queried.query(in: locations.database)
    let format = try options.formatting.format(FieldCensus.names, or: .table)
    if query.isDocumentQuery {
      throw CommandFailure(.usage, "\"\(query.path)\" names a document. Expected a collection.")
    }
    try locations.requireData()
    let connection = try locations.connect().at(options.moment.at)
    let isQuiet = options.headless.quiet
    let census = try await options.timeLimit.limit {
      var progress = TransferProgress(isQuiet: isQuiet)
      defer { progress.end() }
      var census = FieldCensus()
      var pages = DocumentPages(of: query, at: connection.datastore, connection.database)
      while let page = try await pages.next() {
        for document in page { census.add(document) }
        progress.show(census.documents)
      }
      return census
    }
    try options.print(census.rows, FieldCensus.names, orTable: census.table, format)
    options.headless.note("\(census.documents.documents) read.")
    if census.documents == 0 {
      await options.headless.hint(for: query, connection)
    }
  }
}

/// `hearth stats`: the collections, largest first.
package struct StatsCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Print the document count and the size of each collection.",
    discussion: """
      Reads all documents below the path; a server may charge for the reads. Collections with the same id below the \
      documents of a collection are one row, written cities/*/landmarks. Sizes are Firestore's document sizes, \
      without indexes.

      With --json, prints an object for each collection: collection, documents, bytes, largest (path, bytes). With \
      --csv, --tsv and --template: collection, documents, bytes, average, largestBytes, largest.
      """)

  @Argument(help: "Path of a collection or a document. Default: the whole database.")
  var path: String?

  @OptionGroup var options: CensusOptions

  package init() {}

  package mutating func run() async throws {
    let path = try DataPath.orRoot(path)
    let format = try options.formatting.format(CollectionCensus.names, or: .table)
    let locations = options.storage.locations
    try locations.requireData()
    let connection = try locations.connect().at(options.moment.at)
    let isQuiet = options.headless.quiet
    let census = try await options.timeLimit.limit {
      var progress = TransferProgress(isQuiet: isQuiet)
      defer { progress.end() }
      var (census, documents) = (CollectionCensus(), 0)
      let walk = DocumentWalk(at: connection.datastore, connection.database, isRecursive: true)
      try await walk.visit(path) { document in
        census.add(document)
        documents += 1
        progress.show(documents)
      }
      return census
    }
    try options.print(census.rows, CollectionCensus.names, orTable: census.table, format)
    let total = census.total
    options.headless.note("\(total.documents.documents), \(CollectionCensus.size(total.bytes)) in total.")
    if total.documents == 0 { await options.headless.hint(at: path, connection) }
  }
}

/// The options of `hearth schema` and `hearth stats`.
struct CensusOptions: ParsableArguments {
  @OptionGroup var formatting: RowFormatOptions
  @OptionGroup var moment: MomentOption
  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  /// - Parameters:
  ///   - names: the names of the cells in each row.
  ///   - table: the table for people, with sizes in readable units.
  func print(_ rows: [ListedRow], _ names: [String], orTable table: TextTable, _ format: RowFormat) throws {
    if case .table = format {
      if rows.isEmpty { return }
      // Lines fit the width of a terminal.
      let lines = table.lines(width: TerminalSize(of: STDOUT_FILENO)?.columns)
      return try OutputFile.print(lines.asLines())
    }
    var printer = RowPrinter(format, names, to: .standard())
    for row in rows { try printer.print(row) }
    try printer.finish()
  }
}
