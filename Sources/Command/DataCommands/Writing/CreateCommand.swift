// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions
import CommandTransfer
import FirestoreModel
import Foundation

/// `hearth create`: a document that must not be there yet.
package struct CreateCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Make a document that must not exist yet.",
    usage: "hearth create <path> <json>|<field=value> ... [<options>]",
    discussion: """
      Exit status 5, and nothing is written, if the document exists already. Of several that create the same document \
      at the same time one succeeds.

      Example: hearth create locks/nightly owner=host1 && run-it
      """)

  @Argument(help: "Path of the document, such as cities/SF.")
  var path: String

  @Argument(help: FieldArguments.help)
  var document: [String]

  @OptionGroup var writing: WritingOptions

  package var storage: StorageOptions { writing.storage }

  package init() {}

  package mutating func run() async throws {
    let key = try DataPath.document(path)
    var mutation = WriteArgument.set(
      key, try DocumentArgument.read(document, database: writing.database), merge: false)
    mutation.precondition = .exists(false)
    try await writing.commit(mutation)
  }
}
