// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions
import CommandTransfer
import FirestoreModel
import Foundation

/// `hearth set`: replaces a document, or merges into it.
package struct SetCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Write a document.",
    usage: "hearth set <path> <json>|<field=value> ... [--merge] [<options>]",
    discussion: """
      Replaces the document, or with --merge only the fields that are given. Returns when the server has the write. \
      'hearth create' makes a document that must not be there yet, 'hearth add' one with an automatic id.

      Example: hearth set cities/SF '{"name": "San Francisco", "founded": {"$timestamp": "1776-06-29T00:00:00Z"}}'
      """)

  @Argument(help: "Path of the document, such as cities/SF.")
  var path: String

  @Argument(help: FieldArguments.help)
  var document: [String]

  @Flag(help: "Keep the fields that are not given.")
  var merge = false

  @OptionGroup var existing: ExistingOptions
  @OptionGroup var writing: WritingOptions

  package var storage: StorageOptions { writing.storage }

  package init() {}

  package mutating func run() async throws {
    let key = try DataPath.document(path)
    let content = try DocumentArgument.read(document, database: writing.database)
    var mutation = WriteArgument.set(key, content, merge: merge)
    mutation.precondition = existing.precondition
    try await writing.commit(mutation, unchangedSince: existing.unchanged.ifUnchangedSince)
  }
}

/// The fields of a document that is written whole.
enum FieldArguments {
  static let help = ArgumentHelp(
    "The fields: one JSON object, or - to read it from standard input, or field=value for each (see 'hearth update').",
    valueName: "fields")
}
