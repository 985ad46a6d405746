// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Dashboard attached to another program")
struct AttachedTests {
  private func driver(control: Bool = false) -> Driver {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.state.configuration.attached = AttachedProgram(process: 4711, name: "shop", allowsControl: control)
    driver.state.configuration.isReadOnly = !control
    return driver
  }

  private func header(_ driver: Driver) -> Substring { driver.screen.prefix { $0 != "\n" } }

  @Test("The header and the network pane name the attached program")
  func identity() {
    #expect(header(driver()).contains("ATTACHED 4711 shop"))
    #expect(driver().screen.contains("of shop 4711, watched only"))
    #expect(driver(control: true).screen.contains("of shop 4711, watched and controlled"))
  }

  @Test("Commands that would change the attached program explain why they do nothing")
  func refusals() {
    var driver = driver()
    let program = driver.state.configuration.attached!
    for command in Keymap.standard.commands where command.writes {
      let isControl = ["cancel-write", "drop-rejected"].contains(command.name)
      let other = command.name == "set-aside" ? program.asideReason : program.documentsReason
      #expect(command.reason(driver.state) == (isControl ? program.controlReason : other))
    }
    driver.press("o")
    #expect(driver.effects == [] && driver.screen.contains("use hearth attach --control"))
    driver.press("1 n")
    #expect(driver.state.overlay == nil)
    driver.press("F")
    #expect(driver.state.overlay == nil)
    let effects: [Effect] = [
      .client(.write([])), .client(.setNetwork(enabled: false)),
      .client(.listen(ListenerTag(9), Query(path: ResourcePath("a")), .init())),
      .client(.deleteIndexes), .client(.listCollections(below: .root)),
    ]
    #expect(driver.state.permitted(effects, by: program) == [.client(.listCollections(below: .root))])
  }

  @Test("If a program can be controlled, o switches its network and F opens its faults")
  func control() {
    var driver = driver(control: true)
    driver.press("o")
    #expect(driver.effects == [.client(.setNetwork(enabled: false))])
    driver.press("F")
    #expect(driver.state.overlay != nil)
  }

  @Test("The screen says whether you or another program switched the network off")
  func holder() {
    func feed(_ driver: Driver, byWatcher: Bool) -> String {
      var (driver, status) = (driver, driver.state.network)
      (status.isNetworkEnabled, status.isDisabledByWatcher) = (false, byWatcher)
      (status.onlineState, status.reason) = (.offline, .networkDisabled)
      driver.client(.status(status), at: 60)
      return driver.screen
    }
    let own = Scenario.online.play(Size(width: 120, height: 36))
    #expect(feed(own, byWatcher: false).contains("offline 12:05:00 by you"))
    #expect(feed(own, byWatcher: true).contains("offline 12:05:00 by an attached program"))
    #expect(!feed(own, byWatcher: true).contains("(you)"))
    #expect(feed(driver(control: true), byWatcher: true).contains("offline 12:05:00 by you"))
    #expect(feed(driver(control: true), byWatcher: false).contains("offline 12:05:00 by shop"))
    #expect(feed(driver(), byWatcher: true).contains("offline 12:05:00 by another attached program"))
  }

  @Test("Documents covered by the program's in-sync listener are not marked as cached")
  func heard() throws {
    var driver = driver()
    let orders = ResourcePath("orders")
    let tag = try #require(driver.state.browser.windows[orders]?.shown?.tag)
    driver.client(.windowLoaded(tag, [document("orders/a", ["n": 1])], isFromCache: true, total: nil), at: 60)
    let isHeard = driver.state.listeners.contains { $0.query.path == orders && $0.isExact(whileOffline: false) }
    #expect(isHeard && driver.state.browser.windows[orders]?.isFromCache == false)
    // The same holds for their count, which the dashboard reads from the cache.
    driver.client(.counted(orders, 1, isFromCache: true), at: 60)
    #expect(driver.state.browser.windows[orders]?.count.cached == nil)
    var status = driver.state.network
    (status.onlineState, status.reason) = (.offline, .noAnswer)
    driver.client(.status(status), at: 61)
    driver.client(.windowLoaded(tag, [document("orders/a", ["n": 1])], isFromCache: true, total: nil), at: 62)
    #expect(driver.state.browser.windows[orders]?.isFromCache == true)
  }

  @Test("Missed snapshots are counted, and listeners show the final state")
  func missed() {
    var driver = driver()
    let tag = driver.state.listeners[0].tag
    driver.client(
      .snapshotsMissed(1204, [tag: ListenerState.Result(count: 77, isFromCache: false)]), at: 60)
    #expect(driver.screen.contains("missed \(grouped(1204)) snapshots: shop was busy"))
    #expect(driver.screen.contains("\(grouped(1204)) snapshots, left out"))
    #expect(driver.state.listeners[0].count == 77)
  }

  @Test("A stopped listener of the program disappears, but its feed rows remain")
  func stopped() {
    var driver = driver()
    let listener = driver.state.listeners[0]
    driver.client(.listenerStopped(listener.tag), at: 60)
    #expect(!driver.state.listeners.contains { $0.tag == listener.tag })
    #expect(driver.screen.contains("shop stopped listening"))
  }

  @Test("When the attached program ends, the dashboard stays open and shows ENDED")
  func end() {
    var driver = driver(control: true)
    driver.client(.attachmentEnded("shop 4711 has ended"), at: 60)
    #expect(header(driver).contains("ENDED"))
    #expect(!header(driver).contains("ONLINE"))
    #expect(driver.screen.contains("[ENDED]") && driver.screen.contains("shop 4711 has ended: last known state"))
    #expect(!header(driver).contains("184ms"))
    driver.press("o")
    #expect(driver.effects == [] && driver.screen.contains("nothing can be changed anymore"))
    driver.press("Q")
    #expect(driver.effects == [.terminal(.quit(code: 0))])
  }

  @Test(
    "After the attached program ends, dashes replace the network pane's live values",
    arguments: [Size(width: 80, height: 24), Size(width: 120, height: 36), Size(width: 180, height: 44)])
  func figures(_ size: Size) {
    var driver = driver(control: true)
    driver.send(.input(.resize(size), at: driver.now))
    driver.press("3 w 4")
    var network = Scenario.status(18)
    network.cacheByteCount = 4_000_000
    driver.client(.status(network), at: 18)
    func lines(_ name: String) -> [Substring] {
      driver.screen.split(separator: "\n").filter { $0.contains(" \(name) ") }
    }
    #expect(lines("watch").contains { $0.contains("OPEN") })
    let names = ["watch", "write", "cache"].filter { !lines($0).isEmpty }
    #expect(names.count == (size.height < 36 ? 2 : 3), "\(driver.screen)")

    driver.client(.attachmentEnded("shop 4711 has ended"), at: 60)
    for name in names {
      #expect(lines(name).contains { $0.contains("\(name) ") && $0.contains("—") }, "\(name): \(driver.screen)")
    }
    for text in ["OPEN", "pipeline", "resume token", "on disk", "retry in"] {
      #expect(!driver.screen.contains(text), "\(text)")
    }
  }
}
