// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Data shared with other processes")
struct PeersTests {
  private let serve = DataMember(process: 12, name: "hearth serve")
  private let watch = DataMember(process: 345, name: "hearth watch")

  @Test("The network pane names the process that owns the data and any other processes")
  func pane() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.client(.peers(DataPeers(.owner)), at: 1_000)
    #expect(!driver.screen.contains(" data "))
    driver.client(.peers(DataPeers(.owner, others: [serve, watch])), at: 1_001)
    #expect(driver.screen.contains("data   open here, shared with hearth serve 12,"))
    driver.client(.peers(DataPeers(.attached(to: serve), others: [watch])), at: 1_002)
    #expect(driver.screen.contains("data   open in hearth serve 12, shared with"))
    #expect(driver.screen.contains("hearth serve 12 has the data open now."))
    driver.client(.peers(DataPeers(.unreachable("Process 12 does not answer."))), at: 1_003)
    #expect(driver.screen.contains("data   Process 12 does not answer."))
    driver.client(.peers(DataPeers(.owner)), at: 1_004)
    #expect(!driver.screen.contains("data   "))
    #expect(driver.screen.contains("This process now has the data open, instead of hearth serve 12."))
  }
}
