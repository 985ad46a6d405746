// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import Foundation

/// `hearth tree`: everything below a path, as a tree.
package struct TreeCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "tree", abstract: "Show collections, documents and subcollections as a tree.",
    discussion: """
      Collections end with a slash. A document that does not exist itself, but has collections below it, is marked as \
      missing. Of each collection the first documents are shown, and how many more there are.

      Example: hearth tree cities --depth 2
      """)

  @Argument(help: "Path of a collection or a document; the whole database if there is none.")
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
