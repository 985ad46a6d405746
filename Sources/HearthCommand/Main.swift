// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import TerminalTheme

@main
struct Main {
  /// Wrong usage ends with 64 (`EX_USAGE`) and one line; help and version with 0.
  static func main() async {
    do {
      var command = try HearthCommand.parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch {
      let code = HearthCommand.exitCode(for: error).rawValue
      let message = HearthCommand.fullMessage(for: error)
      if code == 0 {
        print(message)
      } else if !message.isEmpty {
        let line = message.split(separator: "\n").first.map(String.init) ?? message
        let reason = line.hasPrefix("Error: ") ? String(line.dropFirst("Error: ".count)) : line
        StandardError.write("hearth: \(reason)\(suggestion(for: reason))")
      }
      exit(code)
    }
  }

  /// The nearest flag to one that does not exist, where the parser found none near enough to name.
  private static func suggestion(for reason: String) -> String {
    guard reason.hasPrefix("Unknown option"), !reason.contains("Did you mean"),
      let unknown = reason.firstMatch(of: /--?[\w-]+/)
    else { return "" }
    let known = HearthCommand.helpMessage().matches(of: /--[a-z][a-z-]+/).map { String($0.output) }
    return NearestName.closest(to: String(unknown.output), among: known).map { ". The nearest is '\($0.name)'." } ?? ""
  }
}
