// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Missing documents with descendants")
struct MissingDocumentTests {
  /// `rooms` with the documents `b` and `d`, and whatever is said to be missing.
  private func opened(missing: [String]) -> Driver {
    var driver = Driver(Size(width: 100, height: 30))
    driver.client(.collections(below: .root, ["rooms"]), at: 0)
    #expect(driver.effects.contains(.client(.listMissing(in: ResourcePath("rooms")))))
    driver.answerWindow([document("rooms/b", ["n": 1]), document("rooms/d", ["n": 2])], total: 2, at: 1)
    driver.client(.missingDocuments(in: ResourcePath("rooms"), missing.map { key("rooms/\($0)") }), at: 2)
    return driver
  }

  private func ids(_ driver: Driver) -> [String] {
    driver.state.browser.rows.compactMap { row in
      if case .document(let key) = row.item { key.documentID } else { nil }
    }
  }

  @Test("Missing documents are listed by name; a loaded document is not shown as missing")
  func order() {
    let driver = opened(missing: ["e", "a", "c", "d"])
    #expect(ids(driver) == ["a", "b", "c", "d", "e"])
    #expect(driver.screen.contains("a  no document") && !driver.screen.contains("d  no document"))
  }

  @Test("The subcollections of missing documents can be opened")
  func reached() {
    var driver = opened(missing: ["a"])
    driver.press("1 g j l")
    #expect(driver.effects == [.client(.listCollections(below: ResourcePath("rooms/a")))])
    driver.client(.collections(below: ResourcePath("rooms/a"), ["messages"]), at: 3)
    #expect(driver.screen.contains("messages"))
    driver.press("j l")
    #expect(driver.windowQuery?.path == ResourcePath("rooms/a/messages"))
  }

  @Test("A collection of only missing documents is not shown as empty")
  func nothingElse() {
    var driver = Driver(Size(width: 100, height: 30))
    driver.client(.collections(below: .root, ["rooms"]), at: 0)
    driver.answerWindow([], total: 0, at: 1)
    #expect(driver.screen.contains("no documents"))
    driver.client(.missingDocuments(in: ResourcePath("rooms"), [key("rooms/a")]), at: 2)
    #expect(!driver.screen.contains("no documents"))
  }

  @Test("When a document disappears, missing documents are listed again")
  func deleted() {
    var driver = opened(missing: [])
    guard let tag = driver.state.browser.windows[ResourcePath("rooms")]?.shown?.tag else {
      Issue.record("there is no window")
      return
    }
    driver.client(.windowLoaded(tag, [document("rooms/d", ["n": 2])], isFromCache: false, total: 1), at: 3)
    #expect(driver.effects.contains(.client(.listMissing(in: ResourcePath("rooms")))))
  }
}
