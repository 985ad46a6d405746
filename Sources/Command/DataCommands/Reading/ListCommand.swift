// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import Foundation
import Glibc

/// `hearth ls`: what is directly below a path.
package struct ListCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List collections, the documents of one, or the subcollections of a document.",
    discussion: """
      One path per line: without a path the collections of the database, of a collection its documents, of a document \
      its subcollections. A document that does not exist itself, but has collections below it, is marked as missing.

      With --json a line is an object with path, type (collection, document), and documents or exists; --csv, --tsv and \
      --template have the same names.
      """)

  @Argument(help: "Path of a collection or a document; the whole database if there is none.")
  var path: String?

  @Flag(help: "Say how many documents each collection has; a server may charge for that.")
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
      throw CommandFailure(.usage, "--count is for lists of collections; 'hearth count \(path)' counts documents.")
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
