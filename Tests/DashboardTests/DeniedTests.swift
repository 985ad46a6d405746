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

/// A user whose reads the rules deny, and then allow.
@Suite("Data that the rules deny")
struct DeniedTests {
  private static let orders = ResourcePath("orders")
  private static let order = document("orders/a", ["n": 1])
  private static let denial = RPCStatus(
    .permissionDenied, "Missing or insufficient permissions. Line 4 denies get: /orders/a")

  /// A screen with an open document of a collection, both of which the server denies.
  private func denied(known: Bool = true) throws -> Driver {
    var driver = Driver(Size(width: 120, height: 36))
    driver.client(.collections(below: .root, ["orders"]), at: 1)
    let tag = try #require(driver.state.browser.windows[Self.orders]?.requested?.tag)
    if known { driver.answerWindow([Self.order], at: 2) }
    _ = driver.state.goTo(Self.order.key)
    driver.client(.windowFailed(tag, Self.denial), at: 3)
    driver.client(.detailFailed(Self.order.key, Self.denial), at: 3)
    return driver
  }

  @Test("A denied document shows the reason for the denial, not a loading state", arguments: [true, false])
  func reason(_ known: Bool) throws {
    let driver = try denied(known: known)
    let screen = driver.screen
    #expect(screen.contains("denied") && screen.contains("Line 4 denies get"))
    let detail = try #require(driver.state.detail)
    let notes = DetailContent.lines(of: detail, in: driver.state).compactMap { line -> String? in
      if case .note(let text) = line.content { text } else { nil }
    }
    #expect(notes.first?.contains("Line 4 denies get") == true && !notes.contains("loading"))
    #expect(screen.contains("exists") && !screen.contains("exists                 yes"))
    #expect(driver.state.toasts.last?.text.contains("Line 4 denies get") == true)
  }

  @Test("Denied data is requested again each minute, and shown when the rules allow it")
  func allowed() throws {
    var driver = try denied()
    driver.tick(70)
    let requests = driver.effects.compactMap { effect -> String? in
      switch effect {
      case .client(.openWindow): "window"
      case .client(.openDetail(Self.order.key)): "document"
      default: nil
      }
    }
    #expect(requests.sorted() == ["document", "window"])
    // An unchanged answer changes nothing on the screen.
    #expect(driver.screen.contains("\u{2014} denied"))
    driver.answerWindow([Self.order], at: 71)
    driver.client(.detail(Self.order.key, remote: Self.order, overlay: nil, local: Self.order), at: 71)
    #expect(!driver.screen.contains("denied: "))
    #expect(!driver.screen.contains("\u{2014} denied") && driver.state.detail?.failure == nil)
  }

  @Test("A listener that the rules allow reloads its previously denied collection")
  func listener() throws {
    var driver = try denied()
    _ = driver.state.listen(to: .init(path: Self.orders), name: "orders")
    Scenario.snapshot(
      &driver, driver.state.listeners[0].tag, [.init(.added, Self.order)], count: 1, [.listenerAdded], synced: true,
      at: 5)
    #expect(driver.effects.contains { if case .client(.openWindow) = $0 { true } else { false } })
  }
}
