// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Filtering writes, searching documents and undo")
struct SearchingTests {
  private let size = Size(width: 120, height: 36)

  @Test("The write queue's filter covers id, type, path, state and error; Esc clears it")
  func writes() {
    var driver = Scenario.online.play(size)
    driver.press("2 /")
    driver.type("delete unavail")
    #expect(driver.state.writes.rows.map(\.batch) == [BatchID(44)])
    #expect(driver.screen.contains("1 of 3 writes"))
    driver.press("enter")
    #expect(driver.screen.contains("/delete unav"))
    driver.press("x tab enter")
    #expect(driver.effects == [.client(.cancelWrite(BatchID(44)))])

    driver.press("/ ctrl-u")
    driver.type("nothing")
    #expect(driver.screen.contains("no write passes the filter"))
    driver.press("enter esc")
    #expect(driver.state.writes.rows.count == 3)
  }

  @Test("Commands ignore marked writes that the filter hides")
  func hidden() {
    var driver = Scenario.online.play(size)
    driver.press("2 g j space space /")
    driver.type("#43")
    driver.press("enter x tab enter")
    #expect(driver.effects == [.client(.cancelWrite(BatchID(43)))])
  }

  @Test("Searching a document selects the first match, and n and N cycle through others")
  func document() {
    var driver = Scenario.detail.play(size)
    driver.press("g /")
    driver.type("total")
    #expect(driver.state.detail?.cursor.id == ["field", "total"])
    driver.press("enter / ctrl-u")
    driver.type("a")
    driver.press("enter g")
    let lines = driver.state.detail.map { DetailContent.lines(of: $0, in: driver.state) } ?? []
    let matching = lines.indices.filter { lines[$0].searchText.lowercased().contains("a") }
    #expect(matching.count > 2)
    #expect(driver.screen.isEmpty == false)

    var seen: [Int] = []
    for _ in matching {
      driver.press("n")
      seen.append(driver.state.detail?.cursor.index ?? -1)
    }
    #expect(Set(seen) == Set(matching))
    let last = seen.last ?? -1
    driver.press("n N")
    #expect(driver.state.detail?.cursor.index == last)
  }

  @Test("Without a search, n explains how to start one; a search without matches says so")
  func none() {
    var driver = Scenario.detail.play(size)
    driver.press("n")
    #expect(driver.state.toasts.last?.text == "there is no search: / starts one")
    let before = driver.state.detail?.cursor.id
    driver.press("/")
    driver.type("zzz")
    #expect(driver.screen.contains("0 of "))
    driver.press("enter n")
    #expect(driver.state.toasts.last?.text == "nothing matches zzz")
    #expect(driver.state.detail?.cursor.id == before)
  }

  @Test("Pressing u in any pane undoes the last write", arguments: ["1", "2", "3", "4", "0"])
  func undo(_ pane: String) {
    var driver = Scenario.detail.play(size)
    driver.press(pane + " u")
    #expect(driver.effects == [.client(.undo())])
  }
}
