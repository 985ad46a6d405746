// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import FirestoreProtocol

/// `hearth clear`: empties a database.
package struct ClearCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Delete all documents of a database.",
    discussion: """
      The documents are counted first: the number has to be typed at a terminal, or --yes said. --dry-run only counts. \
      One database is emptied, that of --project and --database; 'hearth databases' lists all.

      For the embedded backend, 'hearth serve' and emulators. Cloud Firestore is refused: there 'hearth delete COLLECTION \
      --recursive' deletes one collection after the other.
      """)

  @OptionGroup var consent: Consent
  @OptionGroup var writing: WritingOptions

  package var storage: StorageOptions { writing.storage }
  package var writes: Bool { !consent.dryRun }

  package init() {}

  package mutating func run() async throws {
    let locations = storage.locations
    if locations.isProduction {
      throw CommandFailure(
        .usage,
        "\(locations.database.text) is a production database, which this does not empty. 'hearth delete COLLECTION "
          + "--recursive' deletes one collection after the other.")
    }
    try locations.requireData()
    let connection = try locations.connect()
    let database = connection.database.text
    let removal = BulkRemoval(writing: writing, consent: consent, connection: connection)
    guard try await removal.obtainConsent(below: [.root], called: database, asking: database) else { return }
    let collections = try await writing.timeLimit.limit {
      try await connection.datastore.listCollectionIDs(below: .root)
    }
    try await removal.delete(collections.map { ResourcePath($0) })
  }
}
