// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import Foundation
import Glibc

@main
struct Main {
  /// Wrong usage ends with 64 (`EX_USAGE`) and one line, every other failure with its `ExitStatus` and one line; help
  /// and version with 0.
  static func main() async {
    StandardStreams.reserve()
    FatalSignals.takeDefaultActions(environment: ProcessInfo.processInfo.environment)
    do {
      try await perform(Array(CommandLine.arguments.dropFirst()))
    } catch is OutputFile.ClosedPipe {
      // Whoever read has read enough.
    } catch let interruption as Interrupted {
      exit(interruption.exitStatus)
    } catch let failure as CommandFailure {
      end(failure)
    } catch let status as RPCStatus {
      end(CommandFailure(status))
    } catch {
      let complaint = CommandHelp.complaint(HearthCommand.fullMessage(for: error), arguments: CommandLine.arguments)
      if let complaint { StandardError.write("hearth: \(complaint)") }
      exit(HearthCommand.exitCode(for: error).rawValue)
    }
  }

  private static func perform(_ arguments: [String]) async throws {
    if let failure = CommandHelp.unknownTopic(arguments) { throw failure }
    do {
      var command = try HearthCommand.parseAsRoot(arguments)
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch  where HearthCommand.exitCode(for: error) == .success {
      // Help, the version, or a script for a shell.
      let message = HearthCommand.fullMessage(for: error)
      if !message.isEmpty { try OutputFile.print(CommandHelp.completed(message) + "\n") }
    }
  }

  private static func end(_ failure: CommandFailure) -> Never {
    StandardError.write("hearth: \(failure.message)")
    exit(failure.status.rawValue)
  }
}
