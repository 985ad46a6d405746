// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Dispatch
import Glibc
import Scenarios

/// `hearth play --step`: each step is told on the terminal before it is done, and waits for enter.
struct StepQuestion: Sendable {
  let scenario: Scenario

  /// A follower that asks before each step.
  var follower: ScenarioFollower {
    ScenarioFollower(before: { index in
      guard scenario.steps.indices.contains(index) else { return }
      let step = scenario.steps[index]
      try OutputFile.print("\(ShownText("  line \(step.line)  \(step.text)"))  [enter] ")
      guard await Self.hearsEnter() else {
        try OutputFile.print("\n")
        throw CommandFailure(
          .failure, "\(scenario.name) was left before its end, at line \(step.line), \(step.text).")
      }
    })
  }

  /// Waits for the end of a line on standard input, on a thread that nothing else waits for.
  /// - Returns: whether it came; false for the end of the input.
  private static func hearsEnter() async -> Bool {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        var byte: UInt8 = 0
        while true {
          let count = read(STDIN_FILENO, &byte, 1)
          if count < 0, errno == EINTR { continue }
          if count <= 0 { return continuation.resume(returning: false) }
          if byte == UInt8(ascii: "\n") { return continuation.resume(returning: true) }
        }
      }
    }
  }
}
