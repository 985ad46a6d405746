// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import Glibc
import TerminalTheme

@main
struct Main {
  /// Wrong usage ends with 64 (`EX_USAGE`) and one line, every other failure with its `ExitStatus` and one line; help
  /// and version with 0.
  static func main() async {
    do {
      var command = try HearthCommand.parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch is OutputFile.ClosedPipe {
      // Whoever read has read enough.
    } catch let interruption as Interrupted {
      exit(interruption.exitStatus)
    } catch let failure as CommandFailure {
      end(failure)
    } catch let status as RPCStatus {
      end(CommandFailure(status))
    } catch {
      let code = HearthCommand.exitCode(for: error).rawValue
      let message = HearthCommand.fullMessage(for: error)
      if code == 0 {
        print(CommandHelp.completed(message))
      } else if !message.isEmpty {
        let line = message.split(separator: "\n").first.map(String.init) ?? message
        let reason = line.hasPrefix("Error: ") ? String(line.dropFirst("Error: ".count)) : line
        let suggestion = CommandHelp.suggestion(for: reason, CommandLine.arguments.dropFirst())
        StandardError.write("hearth: \(reason)\(suggestion)")
      }
      exit(code)
    }
  }

  private static func end(_ failure: CommandFailure) -> Never {
    StandardError.write("hearth: \(failure.message)")
    exit(failure.status.rawValue)
  }
}
