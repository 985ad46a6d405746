// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

/// Documents are made anywhere, in an empty database too.
@Suite struct CreationTests {
  private func empty() -> Driver {
    var driver = Driver(Size(width: 120, height: 36), kind: .embedded)
    driver.client(.collections(below: .root, []), at: 0)
    return driver
  }

  private func edited(_ driver: Driver) -> EditRequest.Subject? {
    for case .terminal(.edit(let request)) in driver.effects { return request.subject }
    return nil
  }

  @Test("In an empty database n asks for a path, and makes a document there with the id that was typed")
  func chosen() {
    var driver = empty()
    driver.press("n p")
    #expect(driver.screen.contains("orders makes an id, orders/o1 has one"))
    driver.type("cities/SF")
    #expect(driver.screen.contains("new document cities/SF"))
    driver.press("enter")
    #expect(edited(driver) == .documentToCreate(key("cities/SF")))
    #expect(driver.screen.contains("▾ cities"))
  }

  @Test("Of a collection it makes an automatic id, also while the slash is typed; what is no path makes nothing")
  func automatic() {
    var driver = empty()
    driver.press("n p")
    driver.type("cities/")
    #expect(driver.screen.contains("new document in cities"))
    driver.press("enter")
    #expect(edited(driver) == .newDocument(in: ResourcePath("cities")))

    driver.press("n p")
    driver.type("/a//b")
    #expect(driver.screen.contains("not a path"))
    driver.press("enter")
    #expect(edited(driver) == nil)
  }

  @Test("The palette offers it for any path that it does not know")
  func palette() {
    var driver = empty()
    driver.press(":")
    driver.type("cities/SF")
    #expect(driver.screen.contains("new document cities/SF"))
  }
}
