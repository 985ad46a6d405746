// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import DashboardModel
import FirestoreText
package import TerminalCanvas

/// Keys, pauses and captions that a dashboard goes through by itself, for demos and recordings of the screen.
package struct DemoScript: Sendable {
  package enum Step: Hashable, Sendable {
    case key(Key)
    /// The sentence in the last row; empty for none.
    case caption(String)
    case pause(Duration)
    case quit
  }

  package private(set) var steps: [Step] = []

  /// The pause before each key until `pace` sets another.
  private static let pace = Duration.milliseconds(400)
  /// The longest pause.
  private static let longest = Duration.seconds(600)

  /// Reads a script: a step on each line.
  /// - Parameter name: the file's name in messages.
  /// - Throws: the first line that is no step, with the reason.
  package static func parse(_ text: String, name: String) throws(CommandFailure) -> DemoScript {
    var (script, pace) = (DemoScript(), Self.pace)
    for (number, row) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = String(row).trimmed
      if line.isEmpty || line.hasPrefix("#") { continue }
      let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
      let rest = parts.count > 1 ? parts[1].trimmed : ""
      func refuse(_ reason: String) -> CommandFailure {
        CommandFailure(.badData, "\(name), line \(number + 1): \(reason)")
      }
      func time() throws(CommandFailure) -> Duration {
        do throws(TextError) { return try DurationText.parse(rest, longest: longest) } catch {
          throw refuse("\(error)")
        }
      }
      switch parts[0] {
      case "wait": script.steps.append(.pause(try time()))
      case "pace": pace = try time()
      case "keys":
        for word in rest.split(separator: " ") {
          guard let key = Key(String(word)) else { throw refuse("\(word) is no key.") }
          script.steps += [.pause(pace), .key(key)]
        }
      case "type": script.steps += rest.flatMap { [.pause(pace / 4), .key(.character($0))] }
      case "caption": script.steps.append(.caption(rest))
      case "quit": script.steps += [.pause(pace), .quit]
      default: throw refuse("\(parts[0]) is no step: wait, pace, keys, type, caption, quit.")
      }
    }
    return script
  }
}
