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

  @Test("evict takes what is older than a time, of a path or of everything")
  func older() {
    var driver = driver("1 g j j")
    run("evict orders older than 2h", &driver)
    #expect(driver.effects.contains(.client(.evict(ResourcePath("orders"), olderThan: .seconds(7_200)))))
    run("evict older than 1h30m", &driver)
    #expect(driver.effects.contains(.client(.evict(nil, olderThan: .seconds(5_400)))))
    for wrong in ["evict orders older", "evict orders older than", "evict older than soon", "evict a b older than 2h"] {
      run(wrong, &driver)
      #expect(!driver.effects.contains { if case .client(.evict) = $0 { true } else { false } }, "\(wrong)")
      driver.press("esc")
    }
    driver.client(.status(Scenario.status(30, isEnabled: false)), at: 30)
    run("evict older than 2h", &driver)
    #expect(driver.screen.contains("What is in the cache that is older than 2 h cannot be read again"))
  }

  @Test("A lifetime is looked at at once and each minute, online only, until it is taken away")
  func lifetime() {
    var driver = driver("1")
    run("lifetime orders 2h", &driver)
    let expiry = Effect.client(.expire(ResourcePath("orders"), after: .seconds(7_200)))
    #expect(driver.effects.contains(expiry))
    driver.tick(50)
    #expect(!driver.effects.contains(expiry))
    driver.tick(90)
    #expect(driver.effects.contains(expiry))
    driver.client(.status(Scenario.status(91, isEnabled: false)), at: 91)
    driver.tick(200)
    #expect(!driver.effects.contains(expiry))
    driver.client(.status(Scenario.status(201)), at: 201)
    driver.tick(202)
    #expect(driver.effects.contains(expiry))
    run("lifetime orders off", &driver)
    driver.tick(300)
    #expect(!driver.effects.contains(expiry) && driver.state.storage.lifetimes.isEmpty)
    run("lifetime users/ada 2h", &driver)
    #expect(driver.state.storage.lifetimes.isEmpty)
  }

  @Test("Another program's cache is left alone")
  func attached() {
    var driver = driver("1 g j j")
    driver.state.configuration.attached = AttachedProgram(process: 4711, name: "shop", allowsControl: true)
    for command in ["evict users", "pin users", "lifetime users 2h"] {
      run(command, &driver)
      let isAsked = driver.effects.contains { if case .client = $0 { true } else { false } }
      #expect(!isAsked && driver.screen.contains("the cache is shop's"), "\(command)")
    }
  }
}
