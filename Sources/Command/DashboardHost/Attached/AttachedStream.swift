// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
package import FirestoreInspection
import FirestoreModel

/// The news of a program, as lines on standard output until the program ends.
package struct AttachedStream {
  private let address: InspectionAddress
  private let greeting: InspectionGreeting
  private let link: InspectionLink
  /// The line that ends it; `nil` to go on until the program ends.
  private let goal: AttachedGoal?
  private let timeout: Duration?

  private enum End: Sendable {
    /// The program's end, in words.
    case program(String)
    case reached, timedOut, interrupted
  }

  package init(
    _ address: InspectionAddress, _ greeting: InspectionGreeting, _ link: InspectionLink,
    until goal: AttachedGoal? = nil,
    timeout: Duration? = nil
  ) {
    self.address = address
    self.greeting = greeting
    self.link = link
    self.goal = goal
    self.timeout = timeout
  }

  /// - Throws: the error of the output; with a goal `try-again` if it was not reached in time, and `unavailable` if the
  ///   program has ended before.
  package func run() async throws {
    let interruptions = Surroundings.current.interruptions()
    let causes = interruptions.causes
    // The first task to finish ends the group: the program's end, or an error of the output; an interruption is silent.
    let end = try await withThrowingTaskGroup(of: End.self) { group in
      group.addTask { try await self.printNews() }
      group.addTask {
        _ = await causes.first { _ in true }
        return .interrupted
      }
      if let timeout {
        group.addTask {
          // The sleep is cancelled when another event ends the run.
          try? await ContinuousClock().sleep(for: timeout)
          return .timedOut
        }
      }
      defer {
        link.cut()
        group.cancelAll()
      }
      return try await group.next() ?? .interrupted
    }
    withExtendedLifetime(interruptions) {}
    switch end {
    case .reached, .interrupted: return
    case .timedOut:
      if goal != nil { throw CommandFailure(.tryAgain, "it did not happen within \(timeout ?? .zero).") }
    case .program(let words):
      if goal != nil {
        throw CommandFailure(.unavailable, "\(greeting.name) \(address) \(words) before it happened.")
      }
      StandardError.write("hearth: \(greeting.name) \(address) \(words).")
    }
  }

  private func printNews() async throws -> End {
    let output = OutputFile.standard()
    var lines = AttachedLines(greeting)
    try output.data(line: AttachedLines.program(address, greeting, type: "attached"))
    try output.flush()
    var end = "has ended"
    var printed = 0
    link.send(InspectionWord(control: false))
    while let received = await link.next() {
      for line in received {
        // News that only a later version of the program knows is left out.
        guard let news = try? InspectionLine.value(InspectionNews.self, of: line) else { continue }
        if case .refused(let reason) = news { throw CommandFailure(.unavailable, reason) }
        if case .closed = news { end = "has closed its client" }
        for text in lines.lines(of: news) {
          try output.data(line: text)
          printed += 1
          guard let goal, goal.isReached(by: text, number: printed) else { continue }
          try output.flush()
          return .reached
        }
      }
      try output.flush()
    }
    return .program(end)
  }
}
