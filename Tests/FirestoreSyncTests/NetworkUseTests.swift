// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Testing

@testable import FirestoreSync

@Suite("Network use and waits for pending writes")
struct NetworkUseTests {
  @Test("The network is on unless a reason stops it, and each reason counts once")
  func causes() {
    var network = NetworkUse()
    #expect(network.isAllowed)
    let stopped = [
      network.stop(by: .disabledByUser), network.stop(by: .disabledByUser), network.stop(by: .userChanging),
    ]
    #expect(stopped == [true, false, true])
    let cleared = [network.clear(.userChanging), network.clear(.userChanging)]
    #expect(cleared == [true, false])
    #expect(!network.isAllowed && network.isStopped(by: .disabledByUser))
    network.clear(.disabledByUser)
    #expect(network.isAllowed)
  }

  @Test("Each reason to stop the network delays writes, except being a secondary client")
  func held() {
    var network = NetworkUse()
    network.stop(by: .secondary)
    #expect(!network.isAllowed && !network.holdsWrites)
    network.stop(by: .storageFailed)
    #expect(network.holdsWrites)
  }

  @Test("A wait for pending writes ends when all writes pending at its start are done")
  func waits() {
    var waits = WriteWaits()
    waits.add(PendingWritesWait(1), until: BatchID(4))
    waits.add(PendingWritesWait(2), until: BatchID(6))
    waits.add(PendingWritesWait(3), until: BatchID(4))
    let early = waits.takeDone(before: BatchID(4))
    #expect(early.isEmpty, "the fourth is still pending")
    let done = waits.takeDone(before: BatchID(5))
    #expect(done == [PendingWritesWait(1), PendingWritesWait(3)])
    let last = waits.takeDone(before: nil)
    #expect(last == [PendingWritesWait(2)])
    waits.add(PendingWritesWait(4), until: BatchID(9))
    let all = waits.takeAll()
    let none = waits.takeAll()
    #expect(all == [PendingWritesWait(4)] && none.isEmpty)
  }
}
