// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import CommandOptions
import CommandOutput
import DashboardModel
package import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

/// Prints the internals of another program's client once.
package struct InsideReport {
  private let address: InspectionAddress
  private let greeting: InspectionGreeting
  private let link: InspectionLink
  private let settings: InsideSettings
  private var unread: [[UInt8]] = []

  package init(
    _ address: InspectionAddress, _ greeting: InspectionGreeting, _ link: InspectionLink, _ settings: InsideSettings
  ) {
    self.address = address
    self.greeting = greeting
    self.link = link
    self.settings = settings
  }

  /// Sends the request to the program, and prints the reply.
  /// - Throws: `unavailable` if the program ends.
  package mutating func run(asJSON: Bool) async throws {
    link.send(InspectionWord(control: false))
    defer { link.cut() }
    link.send(ClientRequest.lookInside)
    link.send(ClientRequest.surveyCache)
    let inside = try await answer { if case .inside(let result) = $0 { result } else { nil } }
    let survey = try await answer { if case .surveyed(let result) = $0 { result } else { nil } }
    let output = OutputFile.standard()
    if asJSON {
      try output.data(line: ClientJSON.inside(inside, survey, in: greeting.database))
    } else {
      try print(inside, survey, to: output)
    }
    try output.flush()
  }

  /// Waits for the program's response.
  private mutating func answer<Found>(_ wanted: (ClientEvent) -> Result<Found, RPCStatus>?) async throws -> Found {
    while true {
      while !unread.isEmpty {
        // Unknown events of a newer program are skipped.
        guard let event = try? InspectionLine.value(ClientEvent.self, of: unread.removeFirst()) else { continue }
        if case .attachmentEnded(let reason) = event { throw CommandFailure(.unavailable, reason) }
        if let result = wanted(event) { return try result.get() }
      }
      guard let lines = await link.next() else {
        throw CommandFailure(.unavailable, "\(greeting.name) \(address) has ended without a reply.")
      }
      unread = lines
    }
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
