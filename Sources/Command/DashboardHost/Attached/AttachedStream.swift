// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import CommandOptions
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreText

/// Prints a program's events as lines on standard output until the program ends.
package struct AttachedStream {
  private let address: InspectionAddress
  private let greeting: InspectionGreeting
  private let link: InspectionLink
  /// The output ends after the line for this event; `nil` to continue until the program ends.
  private let goal: EventGoal?
  private let timeout: Duration?

  private enum End: Sendable {
    /// The program has ended. The text is the reason.
    case program(String)
    case reached, timedOut, interrupted
  }

  package init(
    _ address: InspectionAddress, _ greeting: InspectionGreeting, _ link: InspectionLink,
    until goal: EventGoal? = nil,
    timeout: Duration? = nil
  ) {
    self.address = address
    self.greeting = greeting
    self.link = link
    self.goal = goal
    self.timeout = timeout
  }

  /// - Throws: the error of the output. If there is a goal, also `tryAgain` after the timeout, and `unavailable` if the
  ///   program ends before the goal.
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
      if goal != nil { throw CommandFailure(.tryAgain, "the event did not happen within \(timeout ?? .zero).") }
    case .program(let words):
      if goal != nil {
        throw CommandFailure(.unavailable, "\(greeting.name) \(address) \(words) before the event happened.")
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
        // Unknown events of a newer program are skipped.
        guard let event = try? InspectionLine.value(ClientEvent.self, of: line) else { continue }
        switch event {
        case .attachmentEnded(let reason): throw CommandFailure(.unavailable, reason)
        case .closed: end = "has closed its client"
        default:
          guard let line = lines.line(of: event) else { continue }
          try output.data(line: line.text)
          printed += 1
          let kind = EventPattern.Kind(rawValue: line.type).map { ObservedEvent($0) }
          let observed = [kind].compactMap(\.self) + event.observed({ _ in nil }, documents: { _ in nil })
          guard let goal, observed.contains(where: { goal.isReached(by: $0, number: printed) }) else { continue }
          try output.flush()
          return .reached
        }
      }
      try output.flush()
    }
    return .program(end)
  }
}

/// Converts a program's events to JSON objects, one per line, for scripts.
package struct AttachedLines {
  package struct Line: Sendable {
    package var type: String
    package var text: String
  }

  package let greeting: InspectionGreeting
  private var lastStatus = ""

  init(_ greeting: InspectionGreeting) { self.greeting = greeting }

  /// The line that describes a program. A stream of events begins with this line. A list of programs has one such line
  /// for each program.
  package static func program(_ address: InspectionAddress, _ greeting: InspectionGreeting, type: String) -> String {
    guard case .object(let members) = greeting.json(JSONContext(greeting.database)).kind else { return "" }
    return ClientJSON.object(
      [.init("type", ClientJSON.string(type)), .init("id", ClientJSON.string("\(address)"))] + members
    ).lineText
  }

  /// The line of an event; `nil` for a status that equals the previous one.
  package mutating func line(of event: ClientEvent) -> Line? {
    let json = event.json(JSONContext(greeting.database))
    guard case .string(let type)? = json["type"]?.kind else { return nil }
    let line = Line(type: type, text: json.lineText)
    guard case .status = event else { return line }
    defer { lastStatus = line.text }
    return line.text == lastStatus ? nil : line
  }
}
