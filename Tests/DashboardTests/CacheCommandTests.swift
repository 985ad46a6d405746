// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Documents kept in the cache, or taken out of it, by hand")
struct CacheCommandTests {
  private func driver(_ keys: String) -> Driver {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press(keys)
    return driver
  }

  private func run(_ text: String, _ driver: inout Driver) {
    driver.press(":")
    driver.type(text)
    driver.press("enter")
  }

  @Test("pin keeps a path, or what is selected, and lets go of it the second time")
  func pin() {
    var driver = driver("3")
    let users = Query(path: ResourcePath("users"))
    run("pin users", &driver)
    #expect(driver.effects.contains(.client(.pin(users))) && driver.screen.contains("has of users stays until"))
    driver.press(":")
    driver.type("pin users")
    #expect(driver.screen.contains("no longer keep users"))
    driver.press("enter")
    #expect(driver.effects.contains(.client(.unpin(users))) && driver.state.storage.pins.isEmpty)

    driver.press("1 g j j j v j")
    run("pin", &driver)
    let pinned = ["orders/4hT0q9Lm", "orders/7Qf3xAzP"].map { Query(path: ResourcePath($0)) }
    #expect(driver.state.storage.pins == pinned && driver.effects.starts(with: pinned.map { .client(.pin($0)) }))
  }

  @Test("evict takes a path, or what is selected; offline it asks before")
  func evict() {
    var driver = driver("1 g j j")
    run("evict", &driver)
    #expect(driver.effects.contains(.client(.evict(ResourcePath("orders")))))
    run("evict users/ada", &driver)
    #expect(driver.effects.contains(.client(.evict(ResourcePath("users/ada")))))
    run("evict a//b", &driver)
    #expect(!driver.effects.contains { if case .client(.evict) = $0 { true } else { false } })

    driver.press("esc")
    driver.client(.status(Scenario.status(30, isEnabled: false)), at: 30)
    run("evict users", &driver)
    #expect(driver.effects.allSatisfy { if case .client = $0 { false } else { true } })
    #expect(driver.screen.contains("cannot be read again before you are online"))
    driver.press("tab enter")
    #expect(driver.effects == [.client(.evict(ResourcePath("users")))])
  }

  @Test("Another program's cache is left alone")
  func attached() {
    var driver = driver("1 g j j")
    driver.state.configuration.attached = AttachedProgram(process: 4711, name: "shop", allowsControl: true)
    for command in ["evict users", "pin users"] {
      run(command, &driver)
      let isAsked = driver.effects.contains { if case .client = $0 { true } else { false } }
      #expect(!isAsked && driver.screen.contains("the cache is shop's"), "\(command)")
    }
  }
}
