// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import FirestoreQuery
import FirestoreText
import Foundation

/// A command that writes documents. It is rejected in read-only mode.
package protocol WritingCommand: ParsableCommand {
  var storage: StorageOptions { get }
  /// Whether the command writes; `false` for a dry run.
  var writes: Bool { get }
}

extension WritingCommand {
  package var writes: Bool { true }
}

/// `hearth add`: creates a document with an automatic id.
package struct AddCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Create a document with an automatic id, and print its path.",
    usage: "hearth add <collection> <json>|<field=value> ... [<options>]",
    discussion: """
      Returns when the server has acknowledged the write, and prints the path, or with --json the path and the commit \
      time.

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
    var mutation = WriteText.set(key, content, merge: false)
    mutation.precondition = .exists(false)
    try await writing.commit(mutation)
    if !writing.json { try OutputFile.print(data: key.path.text + "\n") }
  }
}

/// `hearth create`: creates a document that must not exist yet.
package struct CreateCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Create a document that must not exist yet.",
    usage: "hearth create <path> <json>|<field=value> ... [<options>]",
    discussion: """
      Exit status 5, and nothing is written, if the document already exists. If several clients create the same \
      document at the same time, one succeeds.

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
    var mutation = WriteText.set(
      key, try DocumentArgument.read(document, database: writing.database), merge: false)
    mutation.precondition = .exists(false)
    try await writing.commit(mutation)
  }
}

/// `hearth set`: replaces a document, or merges into it.
package struct SetCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Write a document.",
    usage: "hearth set <path> <json>|<field=value> ... [--merge] [<options>]",
    discussion: """
      Replaces the document, or with --merge only the given fields. Returns when the server has acknowledged the \
      write. 'hearth create' creates a document that must not exist yet, 'hearth add' one with an automatic id.

      Example: hearth set cities/SF '{"name": "San Francisco", "founded": {"$timestamp": "1776-06-29T00:00:00Z"}}'
      """)

  @Argument(help: "Path of the document, such as cities/SF.")
  var path: String

  @Argument(help: FieldArguments.help)
  var document: [String]

  @Flag(help: "Keep the other fields of the document.")
  var merge = false

  @OptionGroup var existing: ExistingOptions
  @OptionGroup var writing: WritingOptions

  package var storage: StorageOptions { writing.storage }

  package init() {}

  package mutating func run() async throws {
    let key = try DataPath.document(path)
    let content = try DocumentArgument.read(document, database: writing.database)
    var mutation = WriteText.set(key, content, merge: merge)
    mutation.precondition = existing.precondition
    try await writing.commit(mutation, unchangedSince: existing.unchanged.ifUnchangedSince)
  }
}

/// The fields of a document that is written as a whole.
enum FieldArguments {
  static let help = ArgumentHelp(
    "The fields: one JSON object, or - to read it from standard input, or field=value for each (see 'hearth update').",
    valueName: "fields")
}

/// `hearth update`: changes fields of an existing document, or of all documents in a query's result.
package struct UpdateCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "update", abstract: "Change fields of an existing document, or of a query's results.",
    usage: """
      hearth update <path> <field=value> ... [--remove <field>] [<options>]
      hearth update <collection> --where <condition> <field=value> ... [--yes] [<options>]
      """,
    discussion: """
      A value that is valid JSON is read as JSON (5, true, "5", [1, 2], {"$increment": 1}). A value with a type prefix \
      has that type (timestamp:2026-03-02, ref:users/ada, string:5). Any other text is a string, but text that looks \
      like another type (True, +1, 2026-03-02) is rejected. A field is a path: address.city changes one field of a \
      map. Names with characters other than letters, digits, _ and - need back-quotes. Returns when the server has \
      acknowledged the write; exit status 4 if the document does not exist.

      For a collection, changes all documents that the query finds. They are selected first and then written, up to \
      500 in one commit, so this is not one transaction. Type the document count at the terminal to confirm, or use \
      --yes.

      Example: hearth update cities/SF population=873965 state=CA visits='{"$increment": 1}'
      """)

  @OptionGroup var queried: QueriedPath

  @Argument(
    help: ArgumentHelp(
      "Fields to change; or one JSON object of paths and values, or - to read it from standard input.",
      valueName: "field=value"))
  var changes: [String] = []

  @Option(help: ArgumentHelp("Remove a field. May be repeated.", valueName: "field"))
  var remove: [String] = []

  @OptionGroup var unchanged: UnchangedOption
  @OptionGroup var consent: Consent
  @OptionGroup var writing: WritingOptions

  package var storage: StorageOptions { writing.storage }
  package var writes: Bool { !consent.dryRun }

  package init() {}

  package mutating func validate() throws {
    if changes.isEmpty && remove.isEmpty {
      throw ValidationError("nothing to change. Add FIELD=VALUE or --remove FIELD.")
    }
  }

  package mutating func run() async throws {
    let query = try queried.query(in: writing.database)
    let removed = try remove.map { text throws(CommandFailure) in
      do throws(TextError) { return try FieldPathText.parse(text) } catch { throw error.failure("--remove", text) }
    }
    // The fields do not depend on the key.
    let key = DocumentKey(query.path) ?? DocumentKey(unchecked: ResourcePath("collection/id"))
    let mutation = try WriteArgument.update(
      key, try FieldChanges.parse(changes), removing: removed, database: writing.database)
    if query.isDocumentQuery {
      if consent.dryRun { throw CommandFailure(.usage, "--dry-run works only for the documents of a collection.") }
      return try await writing.commit(mutation, unchangedSince: unchanged.ifUnchangedSince)
    }
    try await update(query, mutation)
  }

  private func update(_ query: Query, _ mutation: Mutation) async throws {
    if unchanged.ifUnchangedSince != nil {
      throw CommandFailure(.usage, "--if-unchanged-since works only for one document, and this is a collection.")
    }
    do throws(ModelError) { try mutation.validateForWrite() } catch { throw CommandFailure(.badData, error.message) }
    let connection = try writing.connect()
    let writes = QueriedWrites(query: query, verb: ("update", "updated"))
    guard let keys = try await writes.choose(at: connection, writing, consent) else { return }
    try await writes.write(keys, at: connection.datastore, writing, isRepeatable: mutation.transforms.isEmpty) { key in
      var update = mutation
      update.key = key
      return update
    }
  }
}
