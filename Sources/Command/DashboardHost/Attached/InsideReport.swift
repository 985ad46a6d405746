// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import CommandOptions
import CommandOutput
import DashboardModel
package import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

/// The inside of a watched program's client, printed once.
package struct InsideReport {
  private let address: InspectionAddress
  private let greeting: InspectionGreeting
  private let link: InspectionLink
  private let settings: InsideSettings

  package init(
    _ address: InspectionAddress, _ greeting: InspectionGreeting, _ link: InspectionLink, _ settings: InsideSettings
  ) {
    self.address = address
    self.greeting = greeting
    self.link = link
    self.settings = settings
  }

  /// Asks the program, and prints what it answers.
  /// - Throws: `unavailable` if the program ends.
  package func run(asJSON: Bool) async throws {
    link.send(InspectionWord(control: false))
    defer { link.cut() }
    guard case .inside(let inside) = try await answer(to: .inside, number: 1),
      case .survey(let survey) = try await answer(to: .survey, number: 2)
    else { throw CommandFailure(.unavailable, "\(greeting.name) \(address) answered something else.") }
    let output = OutputFile.standard()
    if asJSON {
      try output.data(line: ClientJSON.inside(inside.plausible, survey.plausible, in: greeting.database))
    } else {
      try print(inside.plausible, survey.plausible, to: output)
    }
    try output.flush()
  }

  private func answer(to request: InspectionRequest, number: Int) async throws -> InspectionAnswer {
    link.send(NumberedRequest(number, request))
    while let lines = await link.next() {
      for line in lines {
        // News that only a later version of the program knows is passed over.
        guard let news = try? InspectionLine.value(InspectionNews.self, of: line) else { continue }
        if case .refused(let reason) = news { throw CommandFailure(.unavailable, reason) }
        guard case .answer(number, let answer) = news else { continue }
        if case .failed(let status) = answer { throw status }
        return answer
      }
    }
    throw CommandFailure(.unavailable, "\(greeting.name) \(address) has ended before it answered.")
  }

  private func print(_ inside: ClientInside, _ survey: CacheSurvey, to output: OutputFile) throws {
    for section in InsideSection.allCases {
      var context = InsideContext(inside.time)
      context.settings = settings
      context.isBilled = greeting.backend == .cloud
      guard let table = InsideTable.of(section, inside, survey, context) else { continue }
      if section != InsideSection.allCases.first { try output.line("") }
      if table.rows.isEmpty {
        try output.line(ShownText("\(section.rawValue): \(table.empty)"))
      } else {
        var text = TextTable(
          table.columns.map { TextTable.Column(title: $0.title, alignment: $0.isNumber ? .right : .left) })
        for row in table.rows { text.add(row.cells) }
        for line in text.lines() { try output.line(line) }
      }
      for note in table.notes { try output.line(ShownText("  \(note)")) }
    }
  }
}
