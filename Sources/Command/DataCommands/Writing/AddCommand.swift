// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import Foundation

/// `hearth add`: a new document with an automatic id.
package struct AddCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Make a document with an automatic id, and print its path.",
    usage: "hearth add <collection> <json>|<field=value> ... [<options>]",
    discussion: """
      Returns when the server has the document, and prints its path, or with --json path and time of the write.

      Example: hearth add orders status=new total=12.5 at='{"$serverTimestamp": true}'
      """)

  @Argument(help: "Path of the collection, such as orders.")
  var collection: String

  @Argument(help: FieldArguments.help)
  var document: [String]

  @OptionGroup var writing: WritingOptions

  package var storage: StorageOptions { writing.storage }

  package init() {}

  package mutating func run() async throws {
    let collection = try DataPath.collection(collection)
    let key = DocumentKey(unchecked: collection.appending(AutomaticID.make()))
    let content = try DocumentArgument.read(document, database: writing.database)
    var mutation = WriteArgument.set(key, content, merge: false)
    mutation.precondition = .exists(false)
    try await writing.commit(mutation)
    if !writing.json { try OutputFile.print(data: key.path.text + "\n") }
  }
}
