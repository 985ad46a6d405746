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

@Suite("Bundles of the selection")
struct BundleCommandTests {
  private func shop(_ keys: String) -> Driver {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press(keys)
    return driver
  }

  @Test("Documents, ranges, collections, feed rows and results can be saved as a bundle")
  func selections() {
    let orders = Query(path: ResourcePath("orders"))
    let name = shop("1").state.listeners.first { $0.query == orders }?.name ?? "no listener"
    #expect(shop("1 g j j j").state.bundledContents == .documents([key("orders/4hT0q9Lm")]))
    #expect(
      shop("1 g j j j v j").state.bundledContents == .documents([key("orders/4hT0q9Lm"), key("orders/7Qf3xAzP")]))
    #expect(shop("1 g j j").state.bundledContents == .result(orders, name: name))
    #expect(shop("4 k").state.bundledContents == .result(orders, name: name))
    #expect(shop("1 g j j R").state.bundledContents == .result(orders, name: name))
    #expect(shop("3").state.bundledContents == nil)
  }

  @Test("Bundling a listener by name saves its result, and an unknown name is rejected")
  func named() throws {
    var driver = shop("3 :")
    let listener = try #require(driver.state.listeners.first)
    driver.type("bundle x.bundle of \(listener.name)")
    driver.press("enter")
    let contents = BundleContents.result(listener.query, name: listener.name)
    #expect(driver.effects.contains(.client(.transfer(.bundle(contents, file: "x.bundle")))))

    driver.press(":")
    driver.type("bundle x.bundle of nobody")
    #expect(driver.screen.contains("no listener is called nobody"))
    driver.press("enter")
    #expect(!driver.effects.contains { if case .client(.transfer) = $0 { true } else { false } })
  }

  @Test("Without a file, the bundle command asks for a file name and suggests one")
  func asked() {
    var driver = shop("1 g j j :")
    driver.type("bundle ")
    driver.press("enter")
    #expect(driver.screen.contains("Bundle orders") && driver.screen.contains("orders.bundle"))
    driver.press("enter")
    guard case .client(.transfer(.bundle(_, let file, false)))? = driver.effects.first else {
      Issue.record("nothing is bundled: \(driver.effects)")
      return
    }
    #expect(file == "orders.bundle")
  }

  @Test("'freeze' writes all or part of the cache to a file, even offline")
  func freeze() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.client(.status(Scenario.status(30, isEnabled: false)), at: 30)
    for (text, request) in [
      ("freeze all.jsonl", TransferRequest.freezing(nil, file: "all.jsonl")),
      ("freeze o.bundle of orders", .freezing(ResourcePath("orders"), file: "o.bundle")),
    ] {
      driver.press(":")
      driver.type(text)
      driver.press("enter")
      #expect(driver.effects.contains(.client(.transfer(request))), "\(text): \(driver.effects)")
    }
    driver.press(":")
    driver.type("freeze")
    driver.press("enter")
    #expect(driver.screen.contains("Freeze the cache") && driver.screen.contains("cache.jsonl"))
    driver.press("enter")
    #expect(driver.effects == [.client(.transfer(.freezing(nil, file: "cache.jsonl")))])
  }
}
