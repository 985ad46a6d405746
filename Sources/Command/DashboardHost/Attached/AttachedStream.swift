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

  package init(_ address: InspectionAddress, _ greeting: InspectionGreeting, _ link: InspectionLink) {
    self.address = address
    self.greeting = greeting
    self.link = link
  }

  package func run() async throws {
    let interruptions = Surroundings.current.interruptions()
    let causes = interruptions.causes
    // The first task to finish ends the group: the program's end, or an error of the output; an interruption is silent.
    let end = try await withThrowingTaskGroup(of: String?.self) { group in
      group.addTask { try await self.printNews() }
      group.addTask {
        _ = await causes.first { _ in true }
        return nil
      }
      defer {
        link.cut()
        group.cancelAll()
      }
      return try await group.next() ?? nil
    }
    if let end { StandardError.write("hearth: \(greeting.name) \(address) \(end).") }
    withExtendedLifetime(interruptions) {}
  }

  /// - Returns: the way in which the program has ended, in words.
  private func printNews() async throws -> String {
    let output = OutputFile.standard()
    var lines = AttachedLines(greeting)
    try output.data(line: AttachedLines.program(address, greeting, type: "attached"))
    try output.flush()
    var end = "has ended"
    link.send(InspectionWord(control: false))
    while let received = await link.next() {
      for line in received {
        // News that only a later version of the program knows is left out.
        guard let news = try? InspectionLine.value(InspectionNews.self, of: line) else { continue }
        if case .refused(let reason) = news { throw CommandFailure(.unavailable, reason) }
        if case .closed = news { end = "has closed its client" }
        for text in lines.lines(of: news) { try output.data(line: text) }
      }
      try output.flush()
    }
    return end
  }
}
