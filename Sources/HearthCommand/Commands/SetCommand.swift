// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import Foundation

/// `hearth set`: replaces a document, or merges into it.
struct SetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Write a document.", usage: "hearth set <path> <json> [--merge] [<options>]",
    discussion: """
      Replaces the document, or with --merge only the fields that are given. Returns when the server has the write.

      Example: hearth set cities/SF '{"name": "San Francisco", "founded": {"$timestamp": "1776-06-29T00:00:00Z"}}'
      """)

  @Argument(help: "Path of the document, such as cities/SF.")
  var path: String

  @Argument(help: ArgumentHelp("The fields as a JSON object; - reads them from standard input.", valueName: "json"))
  var document: String

  @Flag(help: "Keep the fields that are not given.")
  var merge = false

  @OptionGroup var writing: WritingOptions

  mutating func run() async throws {
    let key = try DataPath.document(path)
    let content = try DocumentArgument.read(document, database: writing.database)
    try await writing.commit(WriteArgument.set(key, content, merge: merge))
  }
}
