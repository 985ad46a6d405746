// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import FirestoreProtocol
import Foundation

/// What every command without a screen takes.
struct HeadlessOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Say nothing on standard error but why the command failed.")
  var quiet = false

  /// One line for people, unless they want none.
  func note(_ line: String) {
    if !quiet { StandardError.write("hearth: \(line)") }
  }
}

/// For commands that ask the backend once.
struct TimeLimitOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Give up after this long (500ms, 5s, 2m) with exit status 75.", valueName: "time"),
    transform: DurationText.parse)
  var timeout: Duration?

  /// Runs work that ends when it is cancelled.
  func limit<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result {
    guard let timeout else { return try await work() }
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await work() }
      group.addTask {
        try await ContinuousClock().sleep(for: timeout)
        return nil
      }
      defer { group.cancelAll() }
      if let first = try await group.next(), let result = first { return result }
      throw CommandFailure(.tryAgain, "no answer within \(timeout).")
    }
  }
}

/// What `set`, `update` and `delete` share: where to write, and how long to wait.
struct WritingOptions: ParsableArguments {
  @Flag(help: "Print one line of JSON with the path and the time of the write.")
  var json = false

  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  var database: DatabaseID { storage.locations.database }

  /// The way to the server.
  func connect() throws(CommandFailure) -> Connection { try storage.locations.connect() }

  /// Writes one document at the server, past the cache and its queue: a write that fails leaves nothing behind.
  func commit(_ mutation: Mutation) async throws {
    do throws(ModelError) { try mutation.validateForWrite() } catch { throw CommandFailure(.badData, error.message) }
    let connection = try connect()
    let response: CommitResponse
    do {
      response = try await timeLimit.limit { try await connection.datastore.commit([mutation]) }
    } catch let status as RPCStatus {
      throw CommandFailure(status, mutation.key.path.text)
    } catch let failure as CommandFailure where failure.status == .tryAgain {
      throw CommandFailure(
        .tryAgain, "\(mutation.key.path.text): \(failure.message) The write may have been applied all the same.")
    }
    guard json else { return }
    let time = DocumentLine.quoted(response.commitTime.timestamp.rfc3339Text)
    try OutputFile.print("{\"path\": \(DocumentLine.quoted(mutation.key.path.text)), \"commitTime\": \(time)}\n")
  }
}
