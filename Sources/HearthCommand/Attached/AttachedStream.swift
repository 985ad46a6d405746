// SPDX-License-Identifier: Apache-2.0
import FirestoreInspection
import FirestoreModel

/// What a program tells, as lines on standard output until it ends.
struct AttachedStream {
  private let address: InspectionAddress
  private let greeting: InspectionGreeting
  private let link: InspectionLink

  init(_ address: InspectionAddress, _ greeting: InspectionGreeting, _ link: InspectionLink) {
    self.address = address
    self.greeting = greeting
    self.link = link
  }

  func run() async throws {
    let interruptions = Surroundings.current.interruptions()
    let causes = interruptions.causes
    // The program's end, or what the output fails with; an interruption is an end without a word.
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

  /// - Returns: how the program has ended.
  private func printNews() async throws -> String {
    let output = OutputFile.standard()
    var lines = AttachedLines(greeting)
    try output.data(line: AttachedLines.program(address, greeting, type: "attached"))
    try output.flush()
    var end = "has ended"
    link.send(InspectionWord(control: false))
    while let received = await link.next() {
      for line in received {
        // What a later version of the program may say besides is no line of ours.
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
