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

@Suite("Listener wall")
struct WallTests {
  private let orders = Query(path: ResourcePath("orders"))

  /// A dashboard with listeners to so many collections.
  private func driver(_ count: Int, _ size: Size = Size(width: 120, height: 36)) -> (Driver, [ListenerTag]) {
    var driver = Driver(size)
    var tags: [ListenerTag] = []
    driver.client(.status(ClientStatus(onlineState: .online, since: at(0))), at: 0)
    for number in 0..<count {
      let name = "c\(number)"
      driver.send(
        .listen(Query(path: ResourcePath(name)), name: name, ListenerOptions(includeMetadataChanges: true), at: at(0)))
      tags += [driver.listenTag].compactMap(\.self)
    }
    return (driver, tags)
  }

  private func snapshot(_ tag: ListenerTag, _ changes: [ListenerSnapshot.Change], count: Int) -> ClientEvent {
    .snapshot(
      ListenerSnapshot(
        listener: tag, changes: changes, isFromCache: false, syncStateChanged: false, hasPendingWrites: false,
        count: count, causes: [.fromServer]))
  }

  private func change(_ path: String) -> ListenerSnapshot.Change {
    .init(.modified, document(path, ["n": 1]), previous: document(path, ["n": 0]))
  }

  private func row(_ name: String, in driver: Driver) -> String {
    driver.screen.split(separator: "\n").first { $0.contains(" \(name) ") }.map(String.init) ?? ""
  }

  @Test("On the wall, seconds before the start or without a round trip are blank")
  func blanks() throws {
    var (driver, tags) = driver(1)
    driver.client(snapshot(tags[0], [change("c0/a")], count: 7), at: 5)
    driver.client(.writeAcknowledged(BatchID(1), after: .milliseconds(20)), at: 6)
    driver.tick(10)
    driver.press("M")
    let columns = 60
    func graph(_ name: String) -> String {
      let row = row(name, in: driver)
      let start = row.index(row.startIndex, offsetBy: 10)
      return String(row[start...].prefix(columns))
    }
    #expect(graph("c0").prefix(50).allSatisfy { $0 == " " } && graph("c0").hasSuffix("▁▁▁▁▁▂▁▁▁▁"), "\(graph("c0"))")
    #expect(graph("writes").prefix(50).allSatisfy { $0 == " " } && graph("writes").hasSuffix("▁▁▁▁▁▁▁▁▁▁"))
    #expect(graph("rtt ms").filter { $0 != " " }.count == 1, "\(graph("rtt ms"))")
  }

  @Test("The bars in a row share one scale, whatever the lengths of the names")
  func comparableBars() {
    let mix = ValueMix.Shown(
      field: "status",
      values: [
        .init(value: "new", documents: 40), .init(value: "delivered", documents: 40),
        .init(value: "paid", documents: 20),
      ])
    let line = MixBars(mix: mix, glyphs: .unicode).line(width: 70, names: true)
    var canvas = Canvas(size: Size(width: 70, height: 1))
    canvas.put(line, x: 0, y: 0, width: 70)
    let bars = canvas.text.split { $0 != "█" }.map(\.count)
    #expect(bars.count == 3 && bars[0] == bars[1] && bars[0] == 2 * bars[2], "\(canvas.text)")
  }

  @Test("A listener's row has events per second, a ten-second mean and a document count")
  func line() throws {
    var (driver, tags) = driver(2)
    for second in [1.0, 1.5, 3, 3.1, 3.2, 3.3] {
      driver.client(snapshot(tags[0], [change("c0/a")], count: 7), at: second)
    }
    driver.tick(5)
    driver.press("M")

    let figures = WallFigures(FrameState(driver.state), end: at(5).seconds)
    let row = figures.row(of: try #require(driver.state.listeners.first))
    #expect(row.events.suffix(5) == [0, 2, 0, 4, 0])
    #expect(row.perSecond == 0.6)
    let line = self.row("c0", in: driver)
    #expect(line.contains("▁▃▁▄▁") && line.contains(" 7 ") && line.contains(" 0.6"), "\(line)")
    #expect(self.row("c1", in: driver).contains("…"), "The second listener has told nothing yet")
  }

  @Test("The wall shows only seconds that have passed completely")
  func wholeSeconds() {
    var (driver, tags) = driver(1)
    driver.press("M")
    driver.client(snapshot(tags[0], [change("c0/a")], count: 1), at: 1.2)
    #expect(!row("c0", in: driver).contains("▂"))
    driver.tick(2)
    #expect(row("c0", in: driver).contains("▂"))
  }

  @Test("Writes, outcomes and outages share the listeners' time axis")
  func writes() {
    var (driver, _) = driver(1)
    driver.client(
      .pendingWrites([pendingWrite(1, .set, "c0/a", at: at(1), .inFlight)]), at: 1)
    driver.client(.writeAcknowledged(BatchID(1), after: .milliseconds(3)), at: 1.4)
    driver.client(.pendingWrites([]), at: 1.5)
    driver.client(.status(ClientStatus(onlineState: .offline, isNetworkEnabled: false, since: at(4))), at: 4)
    driver.press("M")
    driver.tick(8)
    #expect(row("rtt", in: driver).contains("▒▒▒▒") && row("rtt", in: driver).contains("offline 0:04"))

    driver.client(.status(ClientStatus(onlineState: .online, since: at(8))), at: 8)
    driver.client(.pendingWrites([pendingWrite(2, .set, "c0/b", at: at(9), .inFlight)]), at: 9)
    driver.client(.writeRejected(BatchID(2), RPCStatus(.permissionDenied, "no")), at: 9.5)
    driver.tick(12)

    let writes = row("writes", in: driver)
    #expect(writes.contains("▂▁▁▁▁▁▁▁!▁▁") && writes.contains("1 rejected 1 acknowledged"), "\(writes)")
    let trips = row("rtt", in: driver)
    #expect(trips.contains(" ▂  ▒▒▒▒▒   ") || trips.contains(" ▃  ▒▒▒▒▒   "), "\(trips)")
    #expect(trips.contains("p50 3"), "\(trips)")
  }

  @Test("On the wall, each of 300 listeners is reachable, and sorting keeps the selection")
  func many() {
    var (driver, tags) = driver(300, Size(width: 80, height: 24))
    for (index, tag) in tags.enumerated() where index >= 290 {
      driver.client(
        snapshot(tag, (0..<index - 288).map { change("c\(index)/d\($0)") }, count: 3), at: 1)
    }
    driver.tick(20)
    driver.press("M")
    #expect(driver.screen.contains(" of 300"))
    driver.press("s")
    #expect(driver.state.wallListener?.name == "c0")
    driver.press("pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup")
    driver.press("pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup")
    #expect(driver.state.wallListener?.name == "c299")
    for _ in 0..<40 { driver.press("pgdn") }
    #expect(driver.state.wallListener?.name == "c289")
    #expect(!row("c289", in: driver).isEmpty)
    driver.press("enter")
    #expect(driver.state.overlay == nil)
    #expect(driver.state.browser.result?.source == .listener(tags[289]))
  }

  @Test("An active wall requests one tick per second, and an idle wall does not")
  func ticks() {
    var (driver, tags) = driver(1)
    driver.client(snapshot(tags[0], [change("c0/a")], count: 1), at: 1)
    driver.press("M")
    driver.tick(20)
    #expect(driver.state.nextTick == at(21))
    driver.tick(200)
    #expect(driver.state.nextTick > at(201))
  }

  @Test("M and Esc close the wall, and the configuration can open it at start")
  func opening() {
    var (driver, _) = driver(1)
    driver.press("M")
    #expect(driver.state.showsWall)
    driver.press("M")
    #expect(!driver.state.showsWall)
    driver.press("M esc")
    #expect(!driver.state.showsWall)
    var configuration = driver.state.configuration
    configuration.beginsWithWall = true
    #expect(DashboardState(configuration, size: Size(width: 80, height: 24), now: at(0)).showsWall)
  }
}
