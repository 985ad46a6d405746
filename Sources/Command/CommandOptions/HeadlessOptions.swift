// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOutput
package import FirestoreModel
import FirestoreText
import Foundation
import Synchronization

/// The options of every command without a screen.
package struct HeadlessOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Print only failures on standard error.")
  package var quiet = false

  /// Writes one line to standard error, unless `--quiet` is set.
  package func note(_ line: ShownText) {
    if !quiet { StandardError.write("hearth: \(line)") }
  }

  package init() {}
}

/// The time limit of commands that send one request to the backend.
package struct TimeLimitOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Stop after this time (500ms, 5s, 2m) with exit status 75.", valueName: "time"),
    transform: { try DurationText.parse($0) })
  package var timeout: Duration?

  static let mayBeWritten = "The write may have been applied anyway."

  /// Runs a function that writes in several commits, with the time limit.
  package func limitWrites<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws
    -> Result
  {
    do {
      return try await limit(work)
    } catch let failure as CommandFailure where failure.status == .tryAgain && timeout != nil {
      throw CommandFailure(.tryAgain, "\(failure.message) Some documents may have been written.")
    }
  }

  /// Runs a cancellable function with the time limit.
  /// - Parameter key: the document that is written. After a timeout the write may still have been applied. Rejections
  ///   are reported unchanged.
  package func limit<Result: Sendable>(
    writing key: DocumentKey? = nil, _ work: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    guard let timeout else { return try await work() }
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await work() }
      group.addTask {
        try await ContinuousClock().sleep(for: timeout)
        return nil
      }
      defer { group.cancelAll() }
      if let first = try await group.next(), let result = first { return result }
      let late = "no answer within \(timeout)."
      throw CommandFailure(.tryAgain, key.map { "\($0.path.text): \(late) \(Self.mayBeWritten)" } ?? late)
    }
  }

  package init() {}
}

/// The reason why options were rejected, with the exit status to use. The argument parser itself reports only the text.
package final class ParsingFailure: Sendable {
  @TaskLocal package static var current: ParsingFailure?

  private let told = Mutex<CommandFailure?>(nil)

  package var failure: CommandFailure? { told.withLock { $0 } }

  package init() {}

  /// Stores a failure for the exit status.
  /// - Returns: the error that `validate` throws.
  package static func told(_ failure: CommandFailure) -> any Error {
    current?.told.withLock { $0 = $0 ?? failure }
    return ValidationError(failure.message)
  }
}
