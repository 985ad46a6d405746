// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import FirestoreModel
import FirestoreProtocol

/// `hearth databases`: the databases that have documents, of every project.
package struct DatabasesCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "databases", abstract: "List the databases that have documents, of all projects.",
    discussion: """
      One PROJECT/DATABASE per line; commands go to one of them with --project and --database. With --json a line is an \
      object with project and database; --csv, --tsv and --template have the same names.

      Cloud Firestore lists those of one project, also without documents. Another server that cannot tell is an error (1).
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
    if databases.isEmpty { headless.note("there are no documents in any database.") }
  }

  private static func row(_ database: DatabaseID) -> ListedRow {
    let (project, name) = (database.project, database.database)
    return ListedRow(
      cells: [ListedRow.Cell("project", project), ListedRow.Cell("database", name)],
      json: "{\"project\": \(DocumentLine.quoted(project)), \"database\": \(DocumentLine.quoted(name))}",
      line: ShownText(database.text))
  }
}
