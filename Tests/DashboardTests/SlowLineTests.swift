// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

/// The screen on a line that is slow.
@Suite("Slow terminal connection")
struct SlowLineTests {
  private let size = Size(width: 80, height: 24)

  private func slow() -> Driver {
    var driver = Scenario.online.play(size)
    driver.send(.link(isSlow: true, at: driver.now))
    return driver
  }

  /// The rows of the feed.
  private func feed(_ driver: Driver) -> [String] {
    let area = driver.state.geometry(of: .feed, driver.state.layout(size)).rows
    let canvas = driver.canvas()
    return (area.y..<area.maxY).map { canvas.text(row: $0) }
  }

  private func event(_ number: Int, _ driver: inout Driver) throws {
    let listener = try #require(driver.state.listeners.first)
    let new = document("orders/new\(number)", at: 20, ["n": .integer(Int64(number))])
    driver.client(
      .snapshot(
        ListenerSnapshot(
          listener: listener.tag, changes: [.init(.added, new)], isFromCache: false, syncStateChanged: false,
          hasPendingWrites: false, count: 200, causes: [.server(SnapshotVersion(at(20)))])), at: 20)
  }

  @Test("On a slow connection a new feed row replaces the oldest in place and is marked")
  func ring() throws {
    var driver = slow()
    for number in 0..<20 { try event(number, &driver) }
    var before = feed(driver)
    for number in 20..<40 {
      try event(number, &driver)
      let after = feed(driver)
      let changed = after.indices.filter { after[$0].dropFirst() != before[$0].dropFirst() }
      #expect(changed.count == 1, "\(number)")
      let newest = try #require(changed.first)
      #expect(after[newest].contains("new\(number)") && after[newest].hasPrefix("▶"), "\(after[newest])")
      #expect(after.count { $0.hasPrefix("▶") } == 1)
      #expect(!driver.screen.contains("idle"), "although the clock stands at an earlier time")
      before = after
    }
  }

  @Test("On a slow connection, scrolling up shows the feed rows in order")
  func paused() throws {
    var driver = slow()
    for number in 0..<20 { try event(number, &driver) }
    driver.press("4 k k")
    let numbers = feed(driver).compactMap { $0.firstMatch(of: /new(\d+)/).flatMap { Int($0.1) } }
    #expect(numbers.count > 3 && numbers == numbers.sorted())
  }

  @Test("A click selects a feed row after new rows replaced old ones in place")
  func click() throws {
    var driver = slow()
    for number in 0..<21 { try event(number, &driver) }
    let area = driver.state.geometry(of: .feed, driver.state.layout(size)).rows
    let row = try #require(feed(driver)[2].firstMatch(of: /new(\d+)/)?.1)
    driver.mouse(.press, 5, area.y + 2)
    #expect(driver.state.feed.isPaused)
    #expect(driver.state.feed.selected?.key?.documentID == "new\(row)")
  }

  @Test("Rows replaced before they were drawn are counted until the feed is viewed")
  func overwritten() throws {
    var driver = slow()
    let passed = driver.state.feed.passed
    let height = feed(driver).count
    for number in 0..<height { try event(number, &driver) }
    #expect(driver.state.overwrittenRows(since: passed) == 0)
    for number in 0..<37 { try event(100 + number, &driver) }
    let missed = driver.state.overwrittenRows(since: passed)
    #expect(missed == 37)
    driver.send(.overwrote(missed, at: driver.now))
    #expect(driver.screen.contains("▶ follow +37 not shown"))
    driver.press("p")
    #expect(driver.state.overwrittenRows(since: passed) == 0)
    driver.press("p")
    #expect(!driver.screen.contains("not shown"))
  }

  @Test("On a slow connection, clock and ages advance every 10 s with a single tick")
  func steps() {
    var driver = slow()
    driver.tick(31)
    let first = driver.screen
    #expect(driver.state.nextTick == at(40))
    for second in 32..<40 {
      driver.tick(Double(second))
      #expect(driver.screen == first, "\(second)")
    }
    driver.tick(40)
    #expect(driver.screen != first && driver.screen.contains("12:04:40"))
    driver.send(.link(isSlow: false, at: driver.now))
    #expect(driver.state.nextTick <= at(41))
  }

  @Test("On a slow connection every situation can be drawn at any size")
  func total() {
    for situation in Scenario.allCases {
      for size in [Size(width: 1, height: 1), Size(width: 30, height: 8), size, Size(width: 180, height: 44)] {
        var driver = situation.play(size)
        driver.send(.link(isSlow: true, at: driver.now))
        #expect(driver.canvas().size == size)
      }
    }
  }
}
