// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOutput
package import FirestoreModel
package import FirestoreProtocol
import FirestoreText

/// The condition that a document has not been changed since it was read.
package struct UnchangedOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only if the document was not changed after this time, such as the updateTime that 'hearth get --json' prints; "
        + "else the exit status is 6.",
      valueName: "time"),
    transform: { try InstantText.parse($0) })
  package var ifUnchangedSince: Timestamp?

  package init() {}
}

extension Precondition {
  /// Makes a precondition that the document is not changed before the write, after checking that it was not changed
  /// since a time.
  /// - Throws: `notFound` if the document does not exist, `changed` if it was changed.
  package static func unchanged(
    since time: Timestamp, _ key: DocumentKey, at datastore: any Datastore
  ) async throws -> Precondition {
    guard let document = try await datastore.lookup([key]).first, document.exists, let version = document.version else {
      throw CommandFailure(.notFound, "\(key.path.text) does not exist.")
    }
    guard version.timestamp <= time else {
      throw CommandFailure(
        .changed, "\(key.path.text) was changed at \(version.timestamp.rfc3339Text); nothing was written.")
    }
    return .updateTime(version)
  }
}

/// The same condition for writes to documents that need not exist.
package struct ExistingOptions: ParsableArguments {
  @Flag(help: "Only if the document exists; else the exit status is 4.")
  package var ifExists = false

  @OptionGroup package var unchanged: UnchangedOption

  /// The precondition that needs no look at the document.
  package var precondition: Precondition { ifExists ? .exists(true) : .none }

  package init() {}
}
