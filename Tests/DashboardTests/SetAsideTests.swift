// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Writes set aside by hand")
struct SetAsideTests {
  /// The shop's waiting writes 42, which is in flight, 43 and 44.
  private func driver(_ size: Size = Size(width: 120, height: 36)) -> Driver {
    var driver = Scenario.online.play(size)
    driver.press("2 g")
    return driver
  }

  private func aside(_ batch: Int64) -> RejectedWrite {
    RejectedWrite(
      id: BatchID(batch), mutations: [Mutation(key: key("orders/a"), operation: .set(["n": 1]))], localWriteTime: at(1),
      rejection: Rejection(status: .setAside, time: at(9), attempts: 0), byteCount: 100)
  }

  @Test("s sets aside the selected or marked pending writes, but not writes in flight")
  func keyOfPane() {
    var driver = driver()
    driver.press("s")
    #expect(driver.effects.isEmpty && driver.state.toasts.last?.text.contains("in flight") == true)
    driver.press("j s")
    #expect(driver.effects == [.client(.setWriteAside(BatchID(43)))])
    #expect(driver.state.toasts.last?.text == "#43 is set aside, and not sent: r sends again, x drops")
    driver.press("g space space space s")
    #expect(driver.effects == [.client(.setWriteAside(BatchID(43))), .client(.setWriteAside(BatchID(44)))])
    #expect(driver.state.writes.marked.isEmpty && driver.state.toasts.last?.text.contains("1 stay") == true)
  }

  @Test(
    "A set-aside write is labeled as set aside and never counted as rejected",
    arguments: [(120, 36), (80, 24), (60, 16)])
  func told(width: Int, height: Int) {
    var driver = driver(Size(width: width, height: height))
    driver.client(.writeCancelled(BatchID(43)), at: 18)
    driver.client(.rejectedWrites([aside(43)]), at: 18)
    driver.press("G")
    #expect(driver.state.writes.selected?.batch == BatchID(43))
    #expect(driver.screen.contains("set aside"), "\(driver.screen)")
    #expect(!driver.screen.contains("rejected") && !driver.screen.contains("!1"), "\(driver.screen)")
    driver.press("s")
    #expect(driver.state.toasts.last?.text.contains("already set aside") == true)
    driver.press("r")
    #expect(driver.effects == [.client(.resend(BatchID(43)))])
  }

  @Test("A read-only or attached dashboard cannot set writes aside")
  func refused() {
    var driver = driver()
    driver.state.configuration.isReadOnly = true
    driver.press("j s")
    #expect(driver.effects.isEmpty)
    driver.state.configuration.isReadOnly = false
    driver.state.configuration.attached = AttachedProgram(process: 4711, name: "shop", allowsControl: true)
    driver.press("s")
    #expect(driver.effects.isEmpty && driver.screen.contains("shop manages its own writes"))
  }
}
