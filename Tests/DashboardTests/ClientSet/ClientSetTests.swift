// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import FirestoreText
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Several clients on one screen")
struct ClientSetTests {
  @Test("A single client looks and behaves exactly like the plain dashboard")
  func one() {
    var driver = Driver(Size(width: 120, height: 36))
    var clientSet = ClientSet(DashboardSession(driver.state))
    func both(_ action: Action) {
      driver.send(action)
      let result = clientSet.apply(action)
      #expect(result.effects.map(\.item) == driver.effects)
      #expect(view(clientSet) == view(driver.state))
      #expect(result.happened.count == 1)
    }
    both(.client(.collections(below: .root, ["cities", "orders"]), at: at(1)))
    for key in ["2", "o", "1", "j", "space", "?", "esc", "ctrl-n", "&", "I", "esc"].compactMap({ Key($0) }) {
      both(.input(.key(key), at: at(2)))
    }
    both(.input(.resize(Size(width: 80, height: 24)), at: at(3)))
    both(.tick(at(4)))
    #expect(clientSet.first.session.live.clientSet == nil)
  }

  @Test("A new client copies the focused client's listeners and gets the focus")
  func add() {
    var driver = ClientSetDriver()
    driver.run("listen cities where population >= 10")
    driver.run("client add bob user uid-7")
    #expect(driver.names == ["one", "bob"] && driver.focus == "bob")
    #expect(driver.opened.map(\.name) == ["bob"] && driver.opened.first?.user == "uid-7")
    #expect(driver.state("bob").listeners.map(\.query) == driver.state("one").listeners.map(\.query))
    let effects = driver.effects("bob")
    #expect(effects.prefix(2) == [.clientSet(.open), .client(.listCollections(below: .root))])
    #expect(effects.contains { if case .client(.listen) = $0 { true } else { false } })
    #expect(driver.effects("one").isEmpty)
    #expect(driver.screen.contains("as uid-7"))
  }

  @Test("Keys and commands affect only the focused client")
  func focus() {
    var driver = ClientSetDriver.shared()
    driver.press("o")
    #expect(driver.effects("one") == [.client(.setNetwork(enabled: false))] && driver.effects("bob").isEmpty)
    driver.press("ctrl-n o")
    #expect(driver.focus == "bob")
    #expect(driver.effects("bob") == [.client(.setNetwork(enabled: false))] && driver.effects("one").isEmpty)
    driver.run("fault latency 200ms")
    #expect(
      driver.state("bob").faults.settings.latency == .milliseconds(200) && driver.state("one").faults.settings.isCalm)
    driver.press("`")
    #expect(driver.focus == "one")
    driver.press("3")
    #expect(driver.state("one").focus == .network && driver.state("bob").focus == .collections)
    driver.press(":")
    driver.type("client bob")
    driver.press("enter")
    #expect(driver.focus == "bob")
  }

  @Test("A client's events change only that client")
  func news() {
    var driver = ClientSetDriver.shared()
    driver.tell("bob", .collections(below: .root, ["cities"]), at: 1)
    #expect(driver.state("bob").browser.roots == ["cities"] && driver.state("one").browser.roots == nil)
    driver.tell("bob", .status(offline()), at: 2)
    #expect(driver.state("bob").network.isOffline && !driver.state("one").network.isOffline)
    let line = driver.canvas.text(row: 0)
    #expect(line.hasPrefix("▌one") && line.contains("bob as ada ○OFF"), "\(line)")
  }

  private func offline() -> ClientStatus {
    var status = ClientStatus(since: at(1))
    status.isNetworkEnabled = false
    status.onlineState = .offline
    return status
  }

  @Test(
    "An invalid client command is rejected with the reason",
    arguments: [
      ("client add bob", "bob is already a client"),
      ("client add one", "one is the first client"),
      ("client add 7up", "a client's name is a letter, then"), ("client add add", "add is a word of this command"),
      ("client add averyverylongname", "at most 12 in total"), ("client add", "name the client"),
      ("client add carl user", "name the client, and optionally its user"),
      ("client add carl usr x", "name the client, and optionally its user"),
      ("client carl", "no client is called carl: clients are one, bob"),
      ("client remove carl", "no client is called carl"), ("client remove", "name the client to end"),
      ("client remove one", "one is the first client, and ends with hearth"),
      ("client bob carl", "use a client's name"),
    ])
  func refused(_ command: String, _ reason: String) {
    var driver = ClientSetDriver.shared()
    driver.run(command)
    #expect(driver.names == ["one", "bob"] && driver.focus == "one")
    #expect(driver.toasts.contains { $0.contains(reason) }, "\(driver.toasts)")
  }

  @Test("The last client cannot be removed, and a fifth cannot be added")
  func bounds() {
    var single = ClientSetDriver()
    single.run("client remove one")
    #expect(single.names == ["one"] && single.toasts.contains { $0.contains("ends with hearth: q quits") })
    var full = ClientSetDriver.shared(Size(width: 200, height: 60), ["a", "b", "c"])
    full.run("client add d")
    #expect(full.names.count == 4 && full.toasts.contains { $0.contains("a screen has at most 4 clients") })
  }

  @Test("On Cloud Firestore, adding a client as a user requires a signed token")
  func cloudUser() {
    var driver = ClientSetDriver(kind: .cloud)
    driver.run("client add bob user x")
    #expect(driver.names == ["one"] && driver.toasts.contains { $0.contains("needs a signed token") })
    driver.run("client add bob")
    #expect(driver.names == ["one", "bob"])
  }

  @Test("Removing a client asks first only if the client has unsent writes")
  func remove() throws {
    var driver = ClientSetDriver.shared()
    let bob = try #require(driver.number("bob"))
    driver.tell("bob", .pendingWrites([pendingWrite(1, .set, "cities/SF", at: at(1), .held)]), at: 1)
    driver.run("client remove bob")
    #expect(driver.names == ["one", "bob"] && driver.screen.contains("1 write of bob without an acknowledgement"))
    driver.press("enter")
    #expect(driver.names == ["one", "bob"], "cancelling is the answer that is selected")
    driver.run("client remove bob")
    driver.press("tab enter")
    #expect(driver.names == ["one"] && driver.closed == [bob] && driver.focus == "one")
    #expect(driver.state("one").clientSet == nil && driver.state("one").size == driver.clientSet.size)
    // Late news of a client that has ended changes nothing.
    let before = driver.canvas
    _ = driver.clientSet.apply(.client(.collections(below: .root, ["x"]), at: at(3)), from: bob)
    #expect(driver.canvas == before)

    driver.run("client add bob")
    driver.run("client remove bob")
    #expect(driver.names == ["one"] && driver.closed.count == 1, "nothing waits in it")
  }

  @Test("Quitting asks if another client would lose unsent writes")
  func quit() {
    var driver = ClientSetDriver.shared()
    driver.tell("bob", .status(ClientStatus(since: at(0), isDurable: false)), at: 1)
    driver.tell("bob", .pendingWrites([pendingWrite(1, .set, "cities/SF", at: at(1), .held)]), at: 1)
    driver.press("q")
    #expect(driver.result.effects.isEmpty && driver.screen.contains("1 write not sent yet will be lost, of bob"))
    driver.press("tab enter")
    #expect(driver.effects("one") == [.terminal(.quit(code: 0))])
  }

  @Test("A click also moves the focus, and the wheel scrolls without moving the focus")
  func mouse() throws {
    var driver = ClientSetDriver.shared()
    let place = driver.clientSet.layout.places[1]
    let network = try #require(driver.state("bob").layout(place.size).panes[.network])
    driver.mouse(.wheelDown, place.x + 5, 10)
    #expect(driver.focus == "one")
    driver.mouse(.press, place.x + network.x + 3, place.y + network.y + 2)
    #expect(driver.focus == "bob" && driver.state("bob").focus == .network)
    let line = ClientSetRow(driver.clientSet)
    driver.mouse(.press, line.items[0].x + 2, 0)
    #expect(driver.focus == "one")
  }

  @Test("A replay or an attached dashboard cannot add clients")
  func alone() {
    var driver = Driver()
    driver.state.configuration.attached = AttachedProgram(process: 7, name: "shop", allowsControl: true)
    driver.send(.run("client add bob", at: driver.now))
    #expect(driver.effects.isEmpty)
    #expect(driver.state.toasts.contains { $0.text.contains("there is only the client of shop") })
  }

  @Test("A client that cannot open is removed from the screen, and the reason is shown")
  func givenUp() throws {
    var driver = ClientSetDriver.shared()
    let result = driver.clientSet.giveUp(try #require(driver.number("bob")), because: "no room", at: at(1))
    #expect(driver.names == ["one"] && result.closed.count == 1)
    #expect(driver.toasts.contains("bob: no room"))
  }

  @Test("Going back in time affects one client, and keys still switch between clients")
  func past() {
    var driver = ClientSetDriver.shared()
    driver.tell("one", .collections(below: .root, ["cities"]), at: 1)
    driver.tellHost("one", .notice(.info, "hello"), at: 2)
    driver.press(",")
    #expect(driver.state("one").past != nil && driver.state("bob").past == nil)
    driver.press("ctrl-n")
    #expect(driver.focus == "bob")
    driver.press("ctrl-n esc")
    #expect(driver.focus == "one" && driver.state("one").past == nil)
  }

  @Test("Client commands work with -e and are completed in the palette")
  func typed() throws {
    #expect(try TypedCommand.commands(in: "client add bob; client one").count == 2)
    #expect(throws: TextError.self) { try TypedCommand.commands(in: "client") }
    let driver = ClientSetDriver.shared()
    #expect(ClientWords.completions("", driver.state("one")) == ["bob", "add ", "remove bob"])
    #expect(ClientWords.completions("", Driver().state) == ["add "])
  }
}
