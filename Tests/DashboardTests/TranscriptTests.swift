// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel
@testable import DashboardView

@Suite("Dashboard output as plain lines")
struct TranscriptTests {
  @Test("Feed, connection, queue and messages are printed once as lines")
  func lines() {
    var driver = Driver()
    var plain = Transcript()
    #expect(plain.news(of: driver.state) == ["12:04:00.000 status: connecting"])
    #expect(plain.news(of: driver.state) == [])

    driver.host(.notice(.warning, "config.toml:1: unknown setting"), at: 1)
    driver.host(.notice(.info, "Nothing was changed."), at: 2)
    #expect(
      plain.news(of: driver.state) == [
        "12:04:01.000 warning: config.toml:1: unknown setting", "12:04:02.000 note: Nothing was changed.",
      ])
    driver.host(.notice(.info, "Nothing was changed."), at: 2)
    #expect(plain.news(of: driver.state) == ["12:04:02.000 note: Nothing was changed."])
  }

  @Test("Every feed row of the shop scenarios is printed without control characters")
  func shop() {
    for scenario in Scenario.allCases {
      let driver = scenario.play(Size(width: 120, height: 36))
      var plain = Transcript()
      let lines = plain.news(of: driver.state)
      let rows = driver.state.feed.rows
      #expect(lines.count == rows.count + driver.state.messages.count + 1, "\(scenario)")
      for row in rows { #expect(lines.contains { $0.contains(row.summary) }, "\(scenario): \(row.summary)") }
    }
    let offline = Scenario.offlinePaused.play(Size(width: 120, height: 36))
    var plain = Transcript()
    #expect(plain.news(of: offline.state).first?.contains("status: offline, ") == true)
  }

  @Test("Messages beyond the limit are not printed twice")
  func many() {
    var driver = Driver()
    var plain = Transcript()
    var said: [String] = []
    for number in 1...450 {
      driver.host(.notice(.info, "message \(number)"), at: 1)
      said += plain.news(of: driver.state)
    }
    #expect(said.filter { $0.contains("message") }.count == 450)
    #expect(Set(said).count == said.count)
  }
}
