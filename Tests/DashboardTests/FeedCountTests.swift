// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@Suite("Feed counters") struct FeedCountTests {
  @Test("The feed counts every change, even if many changes share one feed row")
  func flood() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    let before = driver.state.feed.total
    for (round, count) in [1, 150, 1000, 10_000].enumerated() {
      let changes = (0..<count).map { index in
        ListenerSnapshot.Change(.added, document("chat/\(round)-\(index)", ["text": .string("\(index)")]))
      }
      Scenario.snapshot(&driver, ListenerTag(1), changes, count: count, [.fromServer], at: 20.1)
    }
    #expect(driver.state.feed.total - before == 11_151)
    driver.tick(21)
    #expect(driver.screen.contains("2788 ev/s"))
  }
}
