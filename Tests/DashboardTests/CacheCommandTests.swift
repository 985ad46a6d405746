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

@Suite("Manual caching and eviction")
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

  /// What the client tells of its cache's pins and lifetimes.
  private func tell(_ retentions: [Retention], _ driver: inout Driver, at time: Double = 1) {
    driver.client(.retentions(retentions), at: time)
  }

  private func retained(_ driver: Driver) -> [Retention] {
    driver.effects.compactMap { if case .client(.retain(let retention)) = $0 { retention } else { nil } }
  }

  @Test("'pin' pins a path, a query or the selection, or removes its pin")
  func pin() throws {
    var driver = driver("3")
    run("pin users", &driver)
    let users = try #require(retained(driver).first)
    #expect(users.target == Query(path: ResourcePath("users")).target && users.kind == .pinned)
    #expect(driver.screen.contains("users stays in the cache until you unpin it"))
    tell([users], &driver)
    driver.press(":")
    driver.type("pin users")
    #expect(driver.screen.contains("no longer keep users"))
    driver.press("enter")
    #expect(driver.effects.contains(.client(.release(users))))
    tell([], &driver)
    var status = Scenario.status(2)
    status.isDurable = false
    driver.client(.status(status), at: 2)
    run("pin users", &driver)
    #expect(driver.screen.contains("in the cache until this session ends: the cache is in memory"))
    driver.client(.status(Scenario.status(3)), at: 3)

    run("pin orders where state == 'done'", &driver)
    let filters = try #require(retained(driver).first).target.filters
    #expect(filters == [.field(FieldFilter(FieldPath("state"), .equal, .string("done")))])
    for wrong in ["pin a//b", "pin orders whree x == 1", "pin orders where"] {
      run(wrong, &driver)
      #expect(retained(driver).isEmpty, "\(wrong)")
      driver.press("esc")
    }

    driver.press("1 g j j j v j")
    run("pin", &driver)
    let pinned = ["orders/4hT0q9Lm", "orders/7Qf3xAzP"].map { Query(path: ResourcePath($0)).target }
    #expect(retained(driver).map(\.target) == pinned)
  }

  @Test("'evict' takes a path or the selection, and asks for confirmation while offline")
  func evict() {
    var driver = driver("1 g j j")
    run("evict", &driver)
    #expect(driver.effects.contains(.client(.evict(.path(ResourcePath("orders"))))))
    run("evict users/ada", &driver)
    #expect(driver.effects.contains(.client(.evict(.path(ResourcePath("users/ada"))))))
    run("evict a//b", &driver)
    #expect(!driver.effects.contains { if case .client(.evict) = $0 { true } else { false } })

    driver.press("esc")
    driver.client(.status(Scenario.status(30, isEnabled: false)), at: 30)
    run("evict users", &driver)
    #expect(driver.effects.allSatisfy { if case .client = $0 { false } else { true } })
    #expect(driver.screen.contains("cannot be read again until you are online"))
    driver.press("tab enter")
    #expect(driver.effects == [.client(.evict(.path(ResourcePath("users"))))])
  }

  @Test("'evict older than' evicts documents by age, below a path or in the whole cache")
  func older() {
    var driver = driver("1 g j j")
    run("evict orders older than 2h", &driver)
    #expect(driver.effects.contains(.client(.evict(.path(ResourcePath("orders")), olderThan: .seconds(7_200)))))
    run("evict older than 1h30m", &driver)
    #expect(driver.effects.contains(.client(.evict(.everything, olderThan: .seconds(5_400)))))
    for wrong in ["evict orders older", "evict orders older than", "evict older than soon", "evict a b older than 2h"] {
      run(wrong, &driver)
      #expect(!driver.effects.contains { if case .client(.evict) = $0 { true } else { false } }, "\(wrong)")
      driver.press("esc")
    }
    driver.client(.status(Scenario.status(30, isEnabled: false)), at: 30)
    run("evict older than 2h", &driver)
    #expect(driver.screen.contains("Everything in the cache that is older than 2 h cannot be read again"))
  }

  @Test("A new cache lifetime is applied immediately, then every minute while online")
  func lifetime() throws {
    var driver = driver("1")
    run("lifetime orders 2h", &driver)
    let hours = try #require(retained(driver).first)
    #expect(hours.target == Query(path: ResourcePath("orders")).target && hours.kind == .lifetime(.seconds(7_200)))
    let look = Effect.client(.applyLifetimes)
    #expect(!driver.effects.contains(look))
    tell([hours], &driver, at: 30)
    #expect(driver.effects.contains(look))
    driver.tick(80)
    #expect(!driver.effects.contains(look))
    driver.tick(120)
    #expect(driver.effects.contains(look))
    driver.client(.status(Scenario.status(121, isEnabled: false)), at: 121)
    driver.tick(230)
    #expect(!driver.effects.contains(look))
    driver.client(.status(Scenario.status(231)), at: 231)
    driver.tick(232)
    #expect(driver.effects.contains(look))
    run("lifetime orders off", &driver)
    #expect(driver.effects.contains(.client(.release(hours))))
    tell([], &driver, at: 240)
    driver.tick(330)
    #expect(!driver.effects.contains(look) && driver.state.storage.retentions.isEmpty)
  }

  @Test("A query can have a cache lifetime; an invalid lifetime is rejected with a reason")
  func lifetimeOfQuery() throws {
    var driver = driver("1")
    run("lifetime orders where state == 'done' 90m", &driver)
    let retention = try #require(retained(driver).first)
    #expect(retention.kind == .lifetime(.seconds(5_400)) && retention.target.filters.count == 1)
    for (wrong, reason) in [
      ("lifetime users/ada 2h", "lifetimes are for collections and queries"),
      ("lifetime zzz", "use: orders 2h"),
      ("lifetime orders limit 5 2h", "a lifetime has no limit"),
      ("lifetime orders soon", "Expected a number with a unit"),
      ("lifetime orders -2h", "Expected a number with a unit"),
    ] {
      driver.press(":")
      driver.type(wrong)
      #expect(driver.screen.contains(reason), "\(wrong)")
      driver.press("enter")
      #expect(retained(driver).isEmpty, "\(wrong)")
      driver.press("esc esc")
    }
    run("lifetime users off", &driver)
    #expect(driver.screen.contains("users has no lifetime") && driver.effects.allSatisfy { $0.isNoClientEffect })
  }

  @Test("'evict' also accepts a query, and 'purge' removes tombstones")
  func queries() {
    var driver = driver("1 g j j")
    run("evict orders where state == 'done' older than 2h", &driver)
    let isAsked = driver.effects.contains {
      guard case .client(.evict(.matching(let query), .some(.seconds(7_200)))) = $0 else { return false }
      return query.filters.count == 1 && query.path.text == "orders"
    }
    #expect(isAsked)
    run("evict orders limit 3", &driver)
    #expect(driver.effects.allSatisfy { $0.isNoClientEffect } && driver.screen.contains("an eviction has no limit"))
    driver.press("esc")
    run("purge", &driver)
    #expect(driver.effects.contains(.client(.evict(.tombstones(nil)))))
    run("purge orders older than 30m", &driver)
    #expect(
      driver.effects.contains(.client(.evict(.tombstones(ResourcePath("orders")), olderThan: .seconds(1_800)))))
    run("purge older than 2h", &driver)
    #expect(driver.effects.contains(.client(.evict(.tombstones(nil), olderThan: .seconds(7_200)))))
    run("purge orders older than", &driver)
    #expect(driver.effects.allSatisfy { $0.isNoClientEffect })
  }

  @Test("Cache commands never change another program's cache")
  func attached() {
    var driver = driver("1 g j j")
    driver.state.configuration.attached = AttachedProgram(process: 4711, name: "shop", allowsControl: true)
    for command in ["evict users", "pin users", "purge users", "lifetime users 2h"] {
      run(command, &driver)
      let isAsked = driver.effects.contains { if case .client = $0 { true } else { false } }
      #expect(!isAsked && driver.screen.contains("the cache belongs to shop"), "\(command)")
    }
  }
}

extension Effect {
  fileprivate var isNoClientEffect: Bool { if case .client = self { false } else { true } }
}
