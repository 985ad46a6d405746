// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Document addresses")
struct DocumentAddressTests {
  private func address(_ kind: ConnectedBackend.Kind, _ path: String, database: String = "(default)")
    -> String?
  {
    ConnectedBackend(kind, project: "my-shop", database: database, host: "127.0.0.1:8080")
      .address(of: key(path))
  }

  @Test("Cloud documents link to the console, and emulator documents to the REST API")
  func kinds() {
    #expect(
      address(.cloud, "orders/7Qf3/items/a b")
        == "https://console.firebase.google.com/project/my-shop/firestore/databases/-default-/data/"
        + "~2Forders~2F7Qf3~2Fitems~2Fa~20b")
    #expect(
      address(.emulator, "orders/é\u{1B}]8", database: "other")
        == "http://127.0.0.1:8080/v1/projects/my-shop/databases/other/documents/orders/%C3%A9%1B%5D8")
    #expect(address(.embedded, "orders/a") == nil)
  }

  @Test("The open document's name is a link, except under a dialog")
  func title() throws {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press(":")
    driver.type("go orders/7Qf3xAzP")
    driver.press("enter")
    let canvas = driver.canvas()
    let link = try #require(canvas.links.first)
    #expect(link.columns.map { canvas[$0, link.y].text }.joined() == "orders/7Qf3xAzP")
    #expect(link.address.hasSuffix("/documents/orders/7Qf3xAzP"))
    driver.press("?")
    let y = link.y
    #expect(
      driver.canvas().links.allSatisfy { link in
        link.columns.map { driver.canvas()[$0, y].text }.joined() == "orders/7Qf3xAzP"
      })
  }
}
