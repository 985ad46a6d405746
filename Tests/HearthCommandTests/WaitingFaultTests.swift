// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import Testing

@testable import DashboardHost

/// The faults that a bridge reports to its dashboard.
@MainActor
@Suite("Pending faults") struct WaitingFaultTests {
  private func nextFaults(_ harness: BridgeHarness) async throws -> [FaultEvent] {
    try await harness.next { if case .faults(_, let waiting) = $0 { waiting } else { nil } }
  }

  @Test("A fault for the next write is reported while it is pending and when it ends")
  func write() async throws {
    try await BridgeHarness.run { harness in
      harness.bridge.perform(.causeFault(.write(.dropAcknowledgement)))
      let armed = try await nextFaults(harness)
      #expect(armed == [.write(.dropAcknowledgement)])
      harness.bridge.perform(.write([set("orders/a", ["n": 1])]))
      let left = try await nextFaults(harness)
      #expect(left.isEmpty)
    }
  }
}
