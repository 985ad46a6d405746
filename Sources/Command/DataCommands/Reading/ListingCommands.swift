// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import FirestoreProtocol
import Foundation
import Glibc

/// `hearth ls`: lists the collections or documents directly below a path.
package struct ListCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "List collections, the documents of a collection, or the subcollections of a document.",
    discussion: """
      Prints one path per line: without a path the collections of the database, for a collection its documents, for a \
      document its subcollections. A document that does not exist but has collections below it is marked as missing.

      With --json, each line is an object with path, type (collection, document), and documents or exists; --csv, \
      --tsv and --template have the same names.
      """)

  @Argument(help: "Path of a collection or a document. Default: the whole database.")
  var path: String?

  @Flag(help: "Count the documents of each collection; a server may charge for it.")
  var count = false

  @Option(parsing: .unconditional, help: ArgumentHelp("At most this many lines.", valueName: "number"))
  var limit: Int?

  @OptionGroup var formatting: RowFormatOptions
  @OptionGroup var moment: MomentOption
  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  package init() {}

  package mutating func validate() throws {
    if let limit, !(1...QueryOptions.largestLimit).contains(limit) {
      throw ValidationError("--limit is \(limit). It must be at least 1 and at most \(QueryOptions.largestLimit).")
    }
  }

  package mutating func run() async throws {
    let path = try DataPath.orRoot(path)
    if count, path.isCollection {
      throw CommandFailure(.usage, "--count works only for collections. Use 'hearth count \(path)' to count documents.")
    }
    let locations = storage.locations
    try locations.requireData()
    let connection = try locations.connect().at(moment.at)
    let listing = Listing(
      datastore: connection.datastore, database: connection.database, counts: count, limit: limit)
    let format = try formatting.format(
      ListedEntry.names, or: count && isatty(STDOUT_FILENO) == 1 ? .table : .lines)
    let isEmpty = try await timeLimit.limit {
      var printer = RowPrinter(format, ListedEntry.names, to: .standard())
      var isEmpty = true
      try await listing.visit(path) { entry in
        isEmpty = false
        try printer.print(entry.row)
      }
      try printer.finish()
      return isEmpty
    }
    if isEmpty { await headless.hint(at: path, connection) }
  }
}

/// `hearth tree`: prints everything below a path as a tree.
package struct TreeCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "tree", abstract: "Show collections, documents and subcollections as a tree.",
    discussion: """
      Collections end with a slash. A document that does not exist but has collections below it is marked as missing. \
      Shows the first documents of each collection, and how many more there are.

      Example: hearth tree cities --depth 2
      """)

  @Argument(help: "Path of a collection or a document. Default: the whole database.")
  var path: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("Show this many levels below the path.", valueName: "number"))
  var depth: Int?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Show this many documents of each collection.", valueName: "number"))
  var limit = 20

  @OptionGroup var moment: MomentOption
  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  package init() {}

  package mutating func validate() throws {
    for (name, number) in [("--depth", depth), ("--limit", limit)] {
      guard let number, !(1..<QueryOptions.largestLimit).contains(number) else { continue }
      throw ValidationError("\(name) is \(number). It must be at least 1 and less than \(QueryOptions.largestLimit).")
    }
  }

  package mutating func run() async throws {
    let path = try DataPath.orRoot(path)
    let locations = storage.locations
    try locations.requireData()
    let connection = try locations.connect().at(moment.at)
    let tree = DataTree(datastore: connection.datastore, database: connection.database, depth: depth, limit: limit)
    let extent = try await timeLimit.limit {
      let output = OutputFile.standard()
      let extent = try await tree.visit(path) { try output.line($0) }
      try output.flush()
      return extent
    }
    let collections = "\(extent.collections) collection\(extent.collections == 1 ? "" : "s")"
    headless.note("\(collections), \(extent.documents.documents) shown.")
    if extent == DataTree.Extent() { await headless.hint(at: path, connection) }
  }
}

/// `hearth databases`: lists the databases of all projects that contain documents.
package struct DatabasesCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "databases", abstract: "List the databases of all projects that have documents.",
    discussion: """
      Prints one PROJECT/DATABASE per line; select one with --project and --database. With --json, each line is an \
      object with project and database; --csv, --tsv and --template have the same names.

      Cloud Firestore lists the databases of one project, including empty ones. If another server cannot list \
      databases, the exit status is 1.
      """)

  @OptionGroup var formatting: RowFormatOptions
  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  private static let names = ["project", "database"]

  package init() {}

  package mutating func run() async throws {
    let locations = storage.locations
    try locations.requireData()
    let connection = try locations.connect()
    let format = try formatting.format(Self.names, or: .lines)
    let databases = try await timeLimit.limit {
      try await connection.datastore.databases(of: locations.isCloud ? connection.database.project : nil)
    }
    var printer = RowPrinter(format, Self.names, to: .standard())
    for database in databases { try printer.print(Self.row(database)) }
    try printer.finish()
    if databases.isEmpty { headless.note("no database has documents.") }
  }

  private static func row(_ database: DatabaseID) -> ListedRow {
    let (project, name) = (database.project, database.database)
    return ListedRow(
      cells: [ListedRow.Cell("project", project), ListedRow.Cell("database", name)],
      json: "{\"project\": \(DocumentLine.quoted(project)), \"database\": \(DocumentLine.quoted(name))}",
      line: ShownText(database.text))
  }
}
