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

@Suite struct UpdateTests {
  let size = Size(width: 80, height: 24)

  // MARK: Browser

  @Test("A collection of a million documents is browsed in windows of two screens")
  func million() {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["events"]), at: 0.1)
    let limit = driver.windowQuery?.limit ?? 0

    #expect(limit > 0 && limit <= 48)
    #expect(driver.windowQuery?.explicitOrderBy == [OrderBy(.documentID)])

    driver.answerWindow(Scenario.events(0..<limit), total: 1_000_000, at: 0.2)
    driver.press("j G")
    #expect(driver.windowQuery?.limitType == .last)
    #expect(driver.windowQuery?.limit == limit)

    driver.answerWindow(Scenario.events(1_000_000 - limit..<1_000_000), at: 0.3)
    #expect(driver.state.browser.cursor.id == .document(key("events/e0999999")))
    #expect(driver.screen.contains("e0999999"))
  }

  @Test("Moving past the last loaded document loads a window around it")
  func slide() {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["events"]), at: 0.1)
    let limit = driver.windowQuery?.limit ?? 0
    driver.answerWindow(Scenario.events(0..<limit), total: 1000, at: 0.2)
    for _ in 0..<limit { driver.press("j") }
    #expect(driver.windowQuery == nil)

    driver.press("j")
    let middle = Value.reference(database, Scenario.events(limit / 2..<limit / 2 + 1)[0].key)
    #expect(driver.windowQuery?.start == Bound(values: [middle], isInclusive: true))

    driver.answerWindow(Scenario.events(limit / 2..<limit / 2 + limit), at: 0.3)
    #expect(driver.state.browser.cursor.id == .document(Scenario.events(limit..<limit + 1)[0].key))
    #expect(driver.effects == [.client(.closeWindow(WindowTag(1)))])
  }

  @Test("A tree filter becomes a query on the id prefix and field values")
  func browserFilter() {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["orders"]), at: 0.1)
    driver.answerWindow(Scenario.orders, at: 0.2)
    driver.press("/")
    driver.type("^7Q status:paid total:18.5")
    driver.press("enter")

    #expect(
      driver.windowQuery?.filters == [
        .field(FieldFilter(FieldPath("status"), .equal, "paid")), .field(FieldFilter(FieldPath("total"), .equal, 18.5)),
      ])
    #expect(driver.windowQuery?.start?.values == [.reference(database, key("orders/7Q"))])
    #expect(driver.windowQuery?.end != nil)

    driver.answerWindow([], at: 0.3)
    driver.press("esc")
    #expect(driver.windowQuery?.filters == [])
    #expect(driver.windowQuery?.start == nil)
  }

  @Test("The response for a previous window is dropped")
  func staleWindow() {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["orders"]), at: 0.1)
    driver.press("/")
    driver.type("^7Q")
    driver.press("enter")
    driver.client(.windowLoaded(WindowTag(1), Scenario.orders, isFromCache: false, total: 3), at: 0.2)

    #expect(!driver.screen.contains("4hT0q9Lm"))
  }

  // MARK: Feed

  @Test("Scrolling up pauses the feed, new rows are counted, and G resumes")
  func pause() {
    var driver = Scenario.online.play(size)
    driver.press("k")
    #expect(driver.state.feed.isPaused)

    Scenario.snapshot(&driver, ListenerTag(2), [.init(.added, Scenario.created)], count: 4, [.fromServer], at: 18)
    #expect(driver.state.feed.newCount == 1)
    #expect(driver.screen.contains("paused +1 new"))

    driver.press("G")
    #expect(!driver.state.feed.isPaused)
    #expect(driver.screen.contains("8sW1bnRk"))
  }

  @Test("The feed drops old rows and stays within its limit")
  func ring() {
    var driver = Scenario.online.play(size)
    for index in 0..<(Feed.capacity + 300) {
      let document = document("chat/m\(index)", ["text": .string("\(index)")])
      Scenario.snapshot(
        &driver, ListenerTag(1), [.init(.added, document)], count: index, [.fromServer], at: 20 + Double(index) / 1000)
    }
    #expect(driver.state.feed.rows.count <= Feed.capacity + 256)
    #expect(driver.state.feed.total > Feed.capacity)
    #expect(driver.state.feed.visible.count == driver.state.feed.rows.count)
  }

  @Test("The snapshot after an acknowledgement shows the write's round-trip time (S3)")
  func acknowledged() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.client(.writeAcknowledged(BatchID(42), after: .milliseconds(184)), at: 18)
    Scenario.snapshot(
      &driver, ListenerTag(2), [.init(.metadata, Scenario.packed)], count: 3, [.acknowledged(BatchID(42))], at: 18.01)

    #expect(driver.screen.contains("#42 acknowledged, rtt 184 ms"))
    #expect(driver.state.writes.rows.contains { $0.batch == BatchID(42) && $0.isFinished })
    driver.tick(22)
    #expect(!driver.state.writes.rows.contains { $0.batch == BatchID(42) })
  }

  // MARK: Writes and confirmation

  @Test(
    "An acknowledged write fades out for any order of the queue and response events", arguments: [true, false])
  func acknowledgementOrder(_ isQueueFirst: Bool) {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    let rest = driver.state.writes.live.filter { $0.batch != BatchID(42) }.map(\.write)
    let queue = ClientEvent.pendingWrites(rest)
    let acknowledgement = ClientEvent.writeAcknowledged(BatchID(42), after: .milliseconds(184))
    driver.client(isQueueFirst ? queue : acknowledgement, at: 18)
    driver.client(isQueueFirst ? acknowledgement : queue, at: 18)

    #expect(driver.state.writes.rows.contains { $0.batch == BatchID(42) && $0.isFinished })
    driver.tick(21)
    #expect(!driver.state.writes.rows.contains { $0.batch == BatchID(42) })
  }

  @Test("A pending increment is explained once")
  func heldIncrement() {
    var driver = Driver(size)
    let row = pendingWrite(46, .increment, "stats/today", at: at(1), .held)
    driver.client(.pendingWrites([row]), at: 1)
    driver.client(.pendingWrites([row]), at: 2)

    #expect(driver.state.messages.count == 1)
    #expect(driver.screen.contains("not idempotent"))
  }

  @Test("Deleting asks first, and the answer that deletes nothing is preselected")
  func delete() {
    var driver = Scenario.confirmDelete.play(size)
    driver.press("enter")
    #expect(driver.effects == [])
    #expect(driver.state.overlay == nil)

    driver.press("d tab enter")
    #expect(driver.effects == [.client(.write([Mutation(key: key("orders/4hT0q9Lm"), operation: .delete)]))])
  }

  @Test("In a real project deleting requires typing the document's name")
  func deleteInProduction() {
    var driver = Driver(size, kind: .cloud)
    driver.client(.collections(below: .root, ["orders"]), at: 0.1)
    driver.answerWindow(Scenario.orders, at: 0.2)
    driver.press("j d tab enter")
    #expect(driver.effects == [])

    driver.type("4hT0q9Lm")
    driver.press("enter")
    #expect(driver.effects.count == 1)
  }

  @Test("A write in flight cannot be canceled, and the reason is shown")
  func cancelInFlight() {
    var driver = Scenario.online.play(size)
    driver.press("2 g x")
    #expect(driver.effects == [])
    #expect(driver.state.overlay == nil)
    #expect(driver.state.toasts.last?.text.contains("in flight") == true)

    driver.press("j x tab enter")
    #expect(driver.effects == [.client(.cancelWrite(BatchID(43)))])
  }

  @Test("Text that could not be written can be edited again")
  func editorFailed() {
    var driver = Scenario.online.play(size)
    let request = EditRequest(.document(key("orders/4hT0q9Lm")), text: "{\"status\": }")
    driver.host(.editorFailed(request, line: 1, column: 12, reason: "a value is missing"), at: 20)
    #expect(driver.screen.contains("line 1, column 12: a value is missing"))

    driver.press("enter")
    #expect(driver.effects == [.terminal(.edit(request))])
  }

  // MARK: Listening and the network

  @Test("Space toggles a listener on the selected collection")
  func listen() {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["orders"]), at: 0.1)
    driver.press("space")
    #expect(
      driver.effects == [
        .client(
          .listen(ListenerTag(1), Query(path: ResourcePath("orders")), ListenerOptions(includeMetadataChanges: true)))
      ])

    driver.press("space")
    #expect(driver.effects == [.client(.unlisten(ListenerTag(1)))])
  }

  @Test("The listener editor shows why a query is invalid and starts a valid one")
  func editor() {
    var driver = Scenario.listenerEditor.play(size)
    driver.press("enter")
    #expect(driver.effects == [])
    #expect(driver.screen.contains("! Expected a number from 1 to 2147483647 as the limit"))

    driver.press("ctrl-u")
    driver.type("50")
    driver.press("enter")
    guard case .client(.listen(_, let query, _))? = driver.effects.first else {
      Issue.record("no listener was started: \(driver.effects)")
      return
    }
    #expect(query.limit == 50)
    #expect(query.filters.count == 2)
    #expect(query.explicitOrderBy == [OrderBy(FieldPath("total"), .descending)])
  }

  @Test("o toggles the network from every pane", arguments: ["1", "2", "3", "4"])
  func network(_ pane: String) {
    var driver = Scenario.online.play(size)
    driver.press(pane + " o")
    #expect(driver.effects == [.client(.setNetwork(enabled: false))])
  }

  // MARK: Time

  @Test("An idle dashboard requests one tick a minute, and the header is unchanged")
  func idle() {
    var driver = Driver(size)
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders"]), at: 0.1)
    driver.answerWindow(Scenario.orders, at: 0.2)
    #expect(driver.state.nextTick == at(60))
    let before = driver.canvas().text(row: 0)
    driver.tick(60)
    #expect(driver.canvas().text(row: 0) == before)
    #expect(driver.state.nextTick == at(120))
  }

  @Test("If the clock is set back, ages and outages on the screen are adjusted")
  func clockSetBack() {
    var driver = Driver(size)
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.status(ClientStatus(onlineState: .offline, since: at(10))), at: 10)
    driver.host(.notice(.error, "something"), at: 20)

    // Two seconds later, which nobody can know, and an hour earlier.
    let later = at(22 - 3600)
    driver.send(.tick(later))
    #expect(driver.canvas().text(row: 0).contains("11:04:22"))
    #expect(driver.screen.contains("OFFLINE 0:10"))
    #expect(driver.screen.contains("something"))
    driver.send(.client(.pendingWrites([pendingWrite(1, .set, "orders/a", at: at(22 - 3600), .held)]), at: later))
    driver.send(.tick(at(26 - 3600)))
    #expect(driver.screen.contains("OFFLINE 0:14"))
    #expect(driver.screen.contains("0:04"))
    #expect(!driver.screen.contains("something"))
  }

  @Test("The event rate drops to zero within ten seconds and then causes no ticks")
  func decay() {
    var driver = Driver(size)
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders"]), at: 0.1)
    driver.answerWindow(Scenario.orders, at: 0.2)
    driver.press("space")
    Scenario.snapshot(&driver, driver.listenTag, [.init(.added, Scenario.orders[0])], count: 1, [.fromServer], at: 1)
    #expect(driver.state.nextTick == at(2))
    for second in 2...10 { driver.tick(Double(second)) }

    #expect(driver.state.nextTick == at(60))
    let before = driver.canvas()
    driver.tick(10)
    #expect(driver.canvas() == before)
  }

  @Test("Ages are updated every second during pending writes or an outage")
  func ages() {
    var driver = Scenario.offlinePaused.play(size)
    #expect(driver.state.nextTick == at(63))
    driver.tick(63)
    #expect(driver.screen.contains("OFFLINE 0:43"))
  }

  // MARK: Overlays and leaving

  @Test("Leaving the theme picker restores the theme, and the theme preview is live")
  func themes() {
    var driver = Scenario.online.play(size)
    driver.press("T down")
    #expect(driver.effects == [.terminal(.setTheme("paper"))])
    driver.press("esc")
    #expect(driver.effects == [.terminal(.setTheme("ember"))])
  }

  @Test("Enter in the palette runs the selected command")
  func palette() {
    var driver = Scenario.palette.play(size)
    driver.press("enter")
    #expect(
      driver.effects == [.client(.setNetwork(enabled: false)), .terminal(.rememberCommands(["offline"]))])
  }

  @Test("ctrl-c closes a dialog, and pressing it twice within a second quits")
  func interrupt() {
    var driver = Scenario.help.play(size)
    driver.press("ctrl-c")
    #expect(driver.state.overlay == nil)
    driver.press("ctrl-c")
    #expect(driver.effects == [])
    driver.press("ctrl-c")
    #expect(driver.effects == [.terminal(.quit(code: 130))])
  }

  @Test("q asks only if pending writes would be lost")
  func quit() {
    var safe = Scenario.online.play(size)
    safe.press("q")
    #expect(safe.effects == [.terminal(.quit(code: 0))])

    var memory = Driver(isDurable: false)
    memory.client(.pendingWrites([pendingWrite(1, .set, "orders/a", at: at(0), .queued)]), at: 0)
    memory.press("q")
    #expect(memory.effects == [])
    #expect(memory.screen.contains("will be lost"))

    memory.press("esc")
    memory.client(.storage(StorageNotice(message: "The data is in use.")), at: 0)
    var fallback = ClientStatus(since: at(0), cacheByteCount: 1_000, isDurable: false)
    memory.client(.status(fallback), at: 0)
    #expect(memory.screen.contains("1.0 kB, unlimited in memory"))
    fallback.isDurable = true
    memory.client(.status(fallback), at: 0)
    #expect(memory.screen.contains("1.0 kB, unlimited on disk"))
  }

  @Test("Letters typed into an input line never run commands")
  func typing() {
    var driver = Scenario.online.play(size)
    driver.press("/")
    driver.type("qodnxQ")
    #expect(driver.effects == [])
    #expect(driver.screen.contains("/ qodnxQ"))
  }

  // MARK: Mouse

  @Test("A click selects a row, a second opens it, and footer hints can be clicked")
  func mouse() {
    var driver = Scenario.online.play(size)
    driver.mouse(.press, 8, 6)
    #expect(driver.state.focus == .collections)
    #expect(driver.state.browser.cursor.id == .document(key("orders/4hT0q9Lm")))
    driver.mouse(.press, 8, 6)
    #expect(driver.effects == [.client(.openDetail(key("orders/4hT0q9Lm")))])

    driver.press("esc 4")
    let footer = driver.canvas().text(row: 23)
    let column =
      footer.firstRange(of: "go offline").map { footer.distance(from: footer.startIndex, to: $0.lowerBound) } ?? 0
    driver.mouse(.press, column, 23)
    #expect(driver.effects == [.client(.setNetwork(enabled: false))])
  }
}
