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
@testable import DashboardView

@Suite("Session band")
struct SessionBandTests {
  private let start: Int64 = 1_000

  private func time(_ seconds: Int64, _ milliseconds: Int64 = 0) -> Timestamp {
    Timestamp(microseconds: (start + seconds) * 1_000_000 + milliseconds * 1_000)
  }

  @Test("The session band draws each second after it has passed, and nothing while idle")
  func seconds() throws {
    var band = SessionBand()
    #expect(band.shown(columns: 40, at: time(0)) == nil)
    band.note(events: 2, at: time(0, 100))
    band.note(events: 1, .write, at: time(0, 900))
    #expect(band.shown(columns: 40, at: time(0, 950)) == nil)
    let shown = try #require(band.shown(columns: 40, at: time(1)))
    #expect(shown.steps == [.init(events: 3, marks: .write)])
    #expect(band.shown(columns: 40, at: time(100)) == shown)

    band.note(events: 1, at: time(4))
    #expect(band.shown(columns: 40, at: time(5))?.steps.map(\.events) == [3, 0, 0, 0, 1])
  }

  @Test("Until an outage ends, the session band draws it only up to the last event")
  func outage() {
    var band = SessionBand()
    band.note(events: 1, at: time(0))
    band.note(isOffline: true, at: time(2))
    #expect(band.shown(columns: 40, at: time(9))?.steps.map { $0.marks.contains(.outage) } == [false, false, true])
    band.note(.write, at: time(4))
    band.note(isOffline: false, at: time(6))
    band.note(events: 1, at: time(8))
    #expect(
      band.shown(columns: 40, at: time(9))?.steps.map { $0.marks.contains(.outage) }
        == [false, false, true, true, true, true, true, false, false])
  }

  @Test("The session band follows the current time while an outage or a write is pending")
  func running() {
    var scene = Shop.rejected(Size(width: 120, height: 36), .unicode)
    func columns() -> Int {
      SessionBandGeometry(scene.state, scene.state.layout(scene.state.size)).shown?.steps.count ?? 0
    }
    #expect(scene.state.hasRunningClock)
    let before = columns()
    for second in 24...30 { scene.tick("12:04:\(second)") }
    #expect(before < columns() && columns() == 30 - 14)

    var band = SessionBand()
    band.note(events: 1, at: time(0))
    band.note(isOffline: true, at: time(1))
    band.run(to: time(6))
    #expect(
      band.shown(columns: 40, at: time(6))?.steps.map { $0.marks.contains(.outage) }
        == [false, true, true, true, true, true])
    // A second is over only once, and an event of the present second is kept.
    band.note(.write, at: time(6, 500))
    band.run(to: time(6, 900))
    band.run(to: time(7))
    #expect(band.shown(columns: 40, at: time(7))?.steps.count == 7)
    #expect(band.shown(columns: 40, at: time(90))?.steps.last?.marks == [.write, .outage])
  }

  @Test("The band of an idle screen ends at the header's time, and an event fills the gap")
  func quiet() throws {
    let size = Size(width: 120, height: 36)
    var driver = Driver(size)
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.send(.listen(Query(path: ResourcePath("orders")), name: "orders", ListenerOptions(), at: at(0)))
    func hear(_ id: String, at seconds: Double) {
      Scenario.snapshot(
        &driver, ListenerTag(1), [.init(.added, document("orders/\(id)", ["n": 1]))], count: 1, [], synced: true,
        at: seconds)
    }
    func end() throws -> Int64 {
      let shown = try #require(SessionBandGeometry(driver.state, driver.state.layout(size)).shown)
      return shown.end(of: shown.steps.count - 1).seconds
    }
    hear("a", at: 5)
    hear("b", at: 8.2)
    for second in 9...30 { driver.tick(Double(second)) }
    #expect(!driver.state.hasRunningClock)
    #expect(try end() == at(8).seconds && driver.state.shownTime.seconds == at(8).seconds)
    let screen = driver.screen
    driver.tick(60)
    #expect(driver.screen == screen && screen.contains("idle since 12:04:08"))

    hear("c", at: 60.5)
    driver.tick(61)
    #expect(try end() == at(60).seconds)
  }

  @Test(
    "In a long session the band's time steps double in length; no events are lost", arguments: [1, 7, 40, 512, 3000])
  func long(_ columns: Int) throws {
    var band = SessionBand()
    for second in stride(from: Int64(0), to: 100_000, by: 37) { band.note(events: 1, at: time(second)) }
    let shown = try #require(band.shown(columns: columns, at: time(200_000)))
    #expect(shown.steps.count <= columns)
    #expect(shown.steps.reduce(0) { $0 + $1.events } == 2703)
    #expect(shown.index(of: time(0)) == 0)
    #expect(shown.index(of: time(99_999)) == shown.steps.count - 1)
    #expect(shown.end(of: 0) < time(shown.length) && shown.end(of: 0) > time(shown.length - 1))
  }

  @Test("The session band shows events, writes and outages, and can be clicked")
  func drawn() throws {
    let size = Size(width: 120, height: 36)
    var scene = Shop.rejected(size, .unicode)
    scene.tick("12:04:23")
    let band = try #require(scene.state.layout(size).band)
    let text = view(scene.state).text(row: band.y)
    #expect(text.hasPrefix("  12:04:14 "))
    #expect(text.contains("⇡") && text.contains("!"))
    #expect(text.trimmed.hasSuffix("1 s a cell"))
    let column = try #require(
      view(scene.state).text(row: band.y).firstIndex(of: "⇡").map { text.distance(from: text.startIndex, to: $0) })

    let effects = scene.effects(ofClick: column, band.y)
    guard case .timeline(.seek(.moment(let moment)))? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(moment == Scene.time("12:04:16.999999"))
  }

  @Test("The session band has ASCII signs, and is omitted on screens under 79 columns")
  func plain() {
    let size = Size(width: 80, height: 24)
    var scene = Shop.rejected(size, .ascii)
    scene.tick("12:04:23")
    let layout = scene.state.layout(size)
    let text = layout.band.map { view(scene.state).text(row: $0.y) } ?? ""
    #expect(text.contains("^") && text.contains("!") && text.allSatisfy(\.isASCII))
    scene.resize(to: Size(width: 78, height: 24))
    #expect(scene.state.layout(scene.state.size).band == nil)
  }
}
