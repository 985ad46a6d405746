// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

/// The cursor of the tree goes where a document is opened from elsewhere.
@Suite("The tree follows opened documents")
struct FollowingTests {
  private func shop() -> Driver { Scenario.online.play(Size(width: 160, height: 40)) }

  private func cursor(_ driver: Driver) -> Browser.Item? { driver.state.browser.cursor.id }

  private func opened(_ driver: Driver) -> [ResourcePath] {
    driver.effects.compactMap { if case .client(.openWindow(_, let query)) = $0 { query.path } else { nil } }
  }

  @Test("An opened document that has a tree row is selected there without a request")
  func present() {
    var driver = shop()
    driver.press(":")
    driver.type("go orders/9aaPq2Xc")
    driver.press("enter")
    #expect(cursor(driver) == .document(key("orders/9aaPq2Xc")) && driver.state.focus == .detail)
    #expect(opened(driver).isEmpty && driver.effects.contains(.client(.openDetail(key("orders/9aaPq2Xc")))))

    driver.press("esc :")
    driver.type("orders/4hT0q9Lm")
    driver.press("enter")
    #expect(cursor(driver) == .document(key("orders/4hT0q9Lm")))

    driver.press("4 k enter")
    guard let key = driver.state.detail?.key, key.collection == ResourcePath("orders") else {
      Issue.record("the feed's row is no order: \(driver.screen)")
      return
    }
    #expect(key.documentID == "8sW1bnRk" && cursor(driver) == .document(key))
  }

  @Test("A folded collection unfolds in full if it fits, else from the opened document on")
  func folded() {
    var driver = shop()
    driver.press(":")
    driver.type("go users/grace")
    driver.press("enter")
    #expect(opened(driver) == [ResourcePath("users")] && driver.windowQuery?.start == nil)
    driver.answerWindow([document("users/ada", ["n": 1]), document("users/grace", ["n": 2])], total: 2, at: 30)
    #expect(cursor(driver) == .document(key("users/grace")) && driver.state.focus == .detail)

    driver.press("esc :")
    driver.type("go products/p200")
    driver.press("enter")
    #expect(driver.windowQuery?.start != nil)
    driver.answerWindow([document("products/p200", ["n": 1]), document("products/p201", ["n": 2])], total: 305, at: 31)
    #expect(cursor(driver) == .document(key("products/p200")))
  }

  @Test("A nested document's path is unfolded for any order of responses")
  func nested() {
    var driver = shop()
    driver.press(":")
    driver.type("go users/ada/notes/n1")
    driver.press("enter")
    #expect(opened(driver) == [ResourcePath("users"), ResourcePath("users/ada/notes")])
    driver.answerWindow([document("users/ada/notes/n1", ["n": 1])], total: 1, at: 30)
    let tag = driver.state.browser.windows[ResourcePath("users")]?.requested?.tag
    #expect(cursor(driver) != .document(key("users/ada/notes/n1")))
    if let tag {
      driver.client(.windowLoaded(tag, [document("users/ada", ["n": 1])], isFromCache: false, total: 1), at: 31)
    }
    driver.client(.collections(below: ResourcePath("users/ada"), ["notes"]), at: 32)
    #expect(cursor(driver) == .document(key("users/ada/notes/n1")))
  }

  @Test("Moving in the tree before a jump completes cancels the jump")
  func givenUp() {
    var driver = shop()
    driver.press(":")
    driver.type("go users/grace")
    driver.press("enter")
    let asked = driver.effects
    driver.press("1 g j")
    driver.effects = asked
    driver.answerWindow([document("users/grace", ["n": 2])], total: 1, at: 30)
    #expect(cursor(driver) == .collection(ResourcePath("chat")))
  }

  @Test("An open query result stays open, and a document in the result is selected")
  func result() {
    var driver = shop()
    driver.press(":")
    driver.type("query orders")
    driver.press("enter")
    let asked = driver.effects.compactMap { if case .client(.ask(let tag, _)) = $0 { tag } else { nil } }
    guard let tag = asked.first else {
      Issue.record("nothing was asked")
      return
    }
    driver.client(.windowLoaded(tag, Scenario.orders, isFromCache: false, total: nil), at: 30)
    driver.press(":")
    driver.type("go orders/9aaPq2Xc")
    driver.press("enter")
    #expect(driver.state.browser.result?.cursor.id == key("orders/9aaPq2Xc"))
  }

  @Test("A newly written document is selected, whether its id was typed or generated")
  func created() {
    var driver = shop()
    driver.host(.created(key("users/new")), at: 30)
    #expect(driver.screen.contains("new document users/new") && opened(driver) == [ResourcePath("users")])
    driver.answerWindow([document("users/ada", ["n": 1]), Scenario.new("users/new", ["n": 2])], total: 2, at: 31)
    #expect(cursor(driver) == .document(key("users/new")))
  }
}
