// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel
@testable import DashboardView

/// What a screen of 200 columns shows that others have no room for.
@Suite("Wide screens")
struct WideScreenTests {
  private static let size = Size(width: 200, height: 60)

  private static let orders = (0..<6).map(order)

  private static func order(_ number: Int) -> Document {
    let address: Fields = ["zip": .integer(Int64(9000 + number))]
    let time = -Double(number)
    let status = ["new", "paid"][number % 2]
    let fields: Fields = [
      "status": .string(status), "total": .double(Double(number) * 2.5), "currency": "EUR", "shipTo": .map(address),
      "items": .array([.string("lamp")]),
    ]
    return document("orders/o\(number)", at: time, fields)
  }

  private func opened(_ size: Size = size, _ documents: [Document] = orders) -> Driver {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow(documents, at: 0)
    return driver
  }

  private func row(of text: String, in driver: Driver) -> String {
    driver.screen.split(separator: "\n").first { $0.contains(text) }.map(String.init) ?? ""
  }

  @Test("A wide screen also has columns for less relevant fields and for map contents")
  func columns() {
    let wide = row(of: "▸ o3", in: opened())
    #expect(wide.contains("EUR") && wide.contains("  {zip 9003}  "), "\(wide)")
    #expect(wide.contains(" now "), "\(wide)")
    let head = row(of: " id▲", in: opened())
    #expect(head.contains("currency") && head.contains("shipTo") && head.contains("changed"), "\(head)")
    #expect(!row(of: "▸ o3", in: opened(Size(width: 120, height: 36))).contains("EUR"))
  }

  @Test("Change times are shown as ages, or as fixed times on a slow terminal connection")
  func times() {
    var documents = Self.orders
    documents[1] = document("orders/o1", at: -130, ["status": "new"])
    documents[2] = document("orders/o2", at: -100_000, ["status": "new"])
    var driver = opened(Self.size, documents)
    #expect(row(of: "▸ o1", in: driver).contains(" 2 min "))
    #expect(row(of: "▸ o2", in: driver).contains(" 1 d "))
    driver.send(.link(isSlow: true, at: driver.now))
    #expect(row(of: "▸ o1", in: driver).contains(" 12:01:50 "))
    #expect(row(of: "▸ o2", in: driver).contains(" 2026-03-01 "))
  }

  @Test("A column heading is complete if there is room")
  func heads() {
    let cities = (0..<4).map { number -> Document in
      let fields: Fields = ["population": .integer(Int64(number)), "n": .integer(Int64(1 - number))]
      return document("cities/c\(number)", fields)
    }
    for size in [Self.size, Size(width: 120, height: 36), Size(width: 80, height: 24)] {
      var driver = Driver(size)
      driver.client(.collections(below: .root, ["cities"]), at: 0)
      driver.answerWindow(cities, at: 0)
      #expect(driver.screen.contains(" population "), "\(driver.screen)")
    }
  }

  @Test("A selected collection shows its fields, frequent values and ranges")
  func overview() {
    var driver = opened()
    driver.press("1 g")
    #expect(driver.screen.contains("orders  the fields of 6 loaded documents"))
    let status = row(of: "status   string", in: driver)
    #expect(status.contains(" 6  new  █") && status.contains(" 3 "), "\(driver.screen)")
    #expect(row(of: "total    double", in: driver).contains("0 to 12.5, median 7.5"))
    #expect(row(of: "shipTo   map", in: driver).contains("zip"))
    #expect(row(of: "items    array", in: driver).contains("1 element"))
    driver.press("j")
    #expect(!driver.screen.contains("at a glance") && driver.screen.contains("0 orders/o0"))
  }

  @Test("Listener graphs show the last minute in 3 s steps, and no ticks run when idle")
  func graphs() {
    var driver = opened()
    driver.press("1 g space")
    let tag = driver.listenTag
    Scenario.snapshot(&driver, tag, [.init(.added, Self.orders[0])], count: 6, [.fromServer], synced: true, at: 1)
    driver.tick(3)
    #expect(row(of: "◉ orders", in: driver).contains("▁▁▁█"))
    #expect(driver.screen.contains("events in the last minute") && driver.screen.contains(" a second "))
    #expect(driver.state.nextTick <= at(6))
    driver.tick(62)
    driver.tick(66)
    #expect(driver.state.nextTick > at(70))
    #expect(!driver.screen.contains("events in the last minute"))
  }

  @Test("A feed row expands maps and arrays if there is room")
  func feed() {
    var driver = opened()
    driver.press("1 g space")
    let new = document("orders/o9", at: 1, ["status": "new", "total": 4, "shipTo": .map(["city": "Gent"])])
    Scenario.snapshot(&driver, driver.listenTag, [.init(.added, new)], count: 7, [.fromServer], at: 1)
    #expect(row(of: "+ orders/o9", in: driver).contains("shipTo {city \"Gent\"}"))
  }

  @Test("An empty database lists commands for other terminals that can reach it")
  func commands() {
    for reach in ["--port 8080", nil] {
      var scene = Scene(size: Self.size)
      scene.change { $0.configuration.reachingOptions = reach }
      scene.collections()
      scene.online([])
      let text = view(scene.state).text
      #expect(text.contains("in another terminal, with --port 8080") == (reach != nil))
      #expect(text.contains("hearth watch cities") == (reach != nil))
    }
  }
}
