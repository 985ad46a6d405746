// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import Foundation

/// `hearth update`: changes fields of a document that exists.
struct UpdateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update", abstract: "Change fields of a document that exists.",
    usage: "hearth update <path> <field=value> ... [--remove <field>] [<options>]",
    discussion: """
      A value that reads as JSON is that (5, true, "5", [1, 2], {"$increment": 1}), any other text a string. A field \
      is a path: address.city changes one field of a map; names with other characters than letters, digits, _ and - \
      stand in back-quotes. Returns when the server has the write; exit status 4 if the document does not exist.

      Example: hearth update cities/SF population=873965 state=CA visits='{"$increment": 1}'
      """)

  @Argument(help: "Path of the document, such as cities/SF.")
  var path: String

  @Argument(
    help: ArgumentHelp(
      "Fields to change; or one JSON object of paths and values, or - to read it from standard input.",
      valueName: "field=value"))
  var changes: [String] = []

  @Option(help: ArgumentHelp("Remove a field. May be repeated.", valueName: "field"))
  var remove: [String] = []

  @OptionGroup var unchanged: UnchangedOption
  @OptionGroup var writing: WritingOptions

  mutating func validate() throws {
    if changes.isEmpty && remove.isEmpty {
      throw ValidationError("nothing to change: give FIELD=VALUE or --remove FIELD.")
    }
  }

  mutating func run() async throws {
    let key = try DataPath.document(path)
    let removed = try remove.map { text throws(CommandFailure) in
      do throws(ArgumentError) { return try FieldName.parse(text) } catch { throw error.failure("--remove", text) }
    }
    let mutation = try WriteArgument.update(
      key, try FieldChanges.parse(changes), removing: removed, database: writing.database)
    try await writing.commit(mutation, unchangedSince: unchanged.ifUnchangedSince)
  }
}
