// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Read-only dashboard")
struct ReadOnlyTests {
  private func driver() -> Driver {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.state.configuration.isReadOnly = true
    return driver
  }

  @Test("Every writing command explains why it does nothing and sends nothing")
  func commands() {
    let writing = Keymap.standard.commands.filter(\.writes)
    #expect(
      Set(writing.map(\.name)) == [
        "edit", "edit-fields", "add-field", "remove-field", "accept", "delete", "cancel-write", "set-aside",
        "drop-rejected", "undo", "redo",
      ])
    var driver = driver()
    for command in writing {
      #expect(command.reason(driver.state) == "read-only: hearth was started with --readonly")
      #expect(driver.state.perform(command) == [], "\(command.name)")
      #expect(driver.state.overlay == nil, "\(command.name)")
    }
    driver.press("u")
    #expect(driver.effects == [] && driver.screen.contains("read-only: hearth was started with --readonly"))
  }

  @Test("A read-only dashboard stops writes that other commands would cause")
  func net() {
    var driver = driver()
    driver.press("1 n d")

    #expect(driver.effects == [])
    #expect(driver.screen.contains("read-only: hearth was started with --readonly"))
    let writes: [Effect] = [.client(.write([])), .client(.undo()), .client(.dropRejected([])), .client(.retryNow)]
    #expect(driver.state.withoutWrites(writes) == [.client(.retryNow)])
  }

  @Test("The footer shows read-only mode, and browsing works")
  func looking() {
    var driver = driver()

    #expect(driver.screen.contains("[READ-ONLY]"))
    driver.press("o")
    #expect(driver.effects == [.client(.setNetwork(enabled: false))])
  }

  @Test("Only production data has a colored band in the header")
  func production() {
    func roles(_ kind: ConnectedBackend.Kind) -> Set<Role> {
      let driver = Driver(Size(width: 120, height: 36), kind: kind)
      return Set(driver.canvas().row(0).prefix(10).map(\.role))
    }
    #expect(roles(.cloud) == [.headerProd])
    #expect(!roles(.emulator).contains(.headerProd))
  }

  @Test("A named connection's settings mark it as production and read-only")
  func connection() {
    var driver = driver()
    driver.state.configuration.backend.name = "live"
    driver.state.configuration.connections = ["live", "local"]
    driver.send(.input(.resize(Size(width: 120, height: 36)), at: at(1)))
    #expect(driver.screen.contains("hearth  live"))
    func isProduction(_ said: Bool?) -> Bool {
      driver.state.configuration.backend.production = said
      return driver.canvas().row(0).first?.role == .headerProd
    }
    #expect(isProduction(true))
    #expect(!isProduction(nil))
    driver.state.configuration.backend.kind = .cloud
    #expect(isProduction(nil))
    #expect(!isProduction(false))
    driver.state.configuration.backend.isReadOnly = true
    #expect(driver.state.readOnlyReason == "read-only: the connection live is")
    let command = Keymap.standard.unbound.first { $0.name == "connections" }
    if let command { _ = driver.state.perform(command) }
    #expect(driver.state.toasts.last?.text == "hearth --connection NAME opens another: live, local.")
    driver.state.configuration.connections = []
    #expect(command?.reason(driver.state) == "connections.toml has no connections")
  }
}
