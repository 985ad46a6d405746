// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOutput
package import FirestoreModel
package import FirestoreProtocol
import FirestoreText

/// The options of the commands that write documents.
package struct WritingOptions: ParsableArguments {
  @Flag(help: "Print one line of JSON: the path and the commit time, or the document count.")
  package var json = false

  @OptionGroup package var timeLimit: TimeLimitOptions
  @OptionGroup package var headless: HeadlessOptions
  @OptionGroup package var storage: StorageOptions

  package var database: DatabaseID { storage.locations.database }

  /// The connection to the server.
  package func connect() throws(CommandFailure) -> BackendConnection { try storage.locations.connect() }

  /// Writes one document at the server, without the cache and its queue. So a write that fails is not stored anywhere.
  /// - Parameter time: the write fails if the document has changed after this time.
  package func commit(_ mutation: Mutation, unchangedSince time: Timestamp? = nil) async throws {
    do throws(ModelError) { try mutation.validateForWrite() } catch { throw CommandFailure(.badData, error.message) }
    let connection = try connect()
    let response: CommitResponse
    var existed: Bool?
    if tellsWrites, mutation.operation == .delete {
      existed = try await timeLimit.limit {
        try await connection.datastore.lookup([mutation.key], .names).first?.exists
      }
    }
    response = try await timeLimit.limit(writing: mutation.key) {
      var mutation = mutation
      if let time {
        mutation.precondition = try await .unchanged(since: time, mutation.key, at: connection.datastore)
      }
      return try await Self.commit(mutation, at: connection.datastore)
    }
    if tellsWrites { StandardError.write(Self.account(of: mutation, existed: existed ?? true)) }
    guard json else { return }
    let time = DocumentLine.quoted(response.commitTime.timestamp.rfc3339Text)
    try OutputFile.print(data: "{\"path\": \(DocumentLine.quoted(mutation.key.path.text)), \"commitTime\": \(time)}\n")
  }

  /// Whether to report each write, because a user types the commands in a shell.
  private var tellsWrites: Bool { Surroundings.current.tellsWrites && !headless.quiet && !json }

  private static func account(of mutation: Mutation, existed: Bool) -> ShownText {
    switch mutation.operation {
    case .delete: existed ? "1 document deleted." : "0 documents deleted: the document did not exist."
    case .patch: "1 document updated."
    case .set, .verify: "1 document written."
    }
  }

  /// Writes a document. If the document changes between the check and the write, the error is the same as for an
  /// earlier change.
  private static func commit(_ mutation: Mutation, at datastore: any Datastore) async throws -> CommitResponse {
    let path = mutation.key.path.text
    do throws(RPCStatus) {
      return try await datastore.commit([mutation])
    } catch  where error.code == .alreadyExists {
      throw CommandFailure(.alreadyExists, "\(path) exists already; nothing was written.")
    } catch  where error.code == .notFound && error.message.contains("No document to update") {
      throw CommandFailure(.notFound, "\(path) does not exist; nothing was written.")
    } catch {
      if case .updateTime = mutation.precondition, error.code == .failedPrecondition {
        throw CommandFailure(.changed, "\(path) was changed just now; nothing was written.")
      }
      var failure = CommandFailure(error, path)
      // The datastore's own message already says that a commit may have been applied, once it has sent the commit.
      if error.code == .deadlineExceeded, !failure.message.contains("may have been applied") {
        failure.message += " \(TimeLimitOptions.mayBeWritten)"
      }
      throw failure
    }
  }

  package init() {}
}

/// The option that requires that a document has not changed since it was read.
package struct UnchangedOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write only if the document has not changed since this time, such as the updateTime from 'hearth get --json'; "
        + "otherwise exit with status 6.",
      valueName: "time"),
    transform: { try InstantText.parse($0) })
  package var ifUnchangedSince: Timestamp?

  package init() {}
}

extension Precondition {
  /// Checks that a document has not changed since a time. Returns a precondition that it does not change before the
  /// write.
  /// - Throws: `notFound` if the document does not exist, `changed` if it has changed.
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

/// The options for a write to a document that need not exist.
package struct ExistingOptions: ParsableArguments {
  @Flag(help: "Write only if the document exists; otherwise exit with status 4.")
  package var ifExists = false

  @OptionGroup package var unchanged: UnchangedOption

  /// The precondition that can be created without reading the document.
  package var precondition: Precondition { ifExists ? .exists(true) : .none }

  package init() {}
}
