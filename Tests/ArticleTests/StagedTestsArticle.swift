// SPDX-License-Identifier: Apache-2.0
import Hearth
import HearthTesting
import Testing

extension ArticleTests {
  // Shown in StagedTests.md:
  @Test("An order made offline is delivered once, even if its response is lost")
  func orderIsDeliveredOnce() async throws {
    try await TestStage.run { stage in
      let phone = try await stage.client("phone", user: "ada")
      let kitchen = try await stage.client("kitchen")
      let board = try await kitchen.listen(to: kitchen.db.collection("orders"))
      try await board.expect(.synced, .empty)

      try await phone.goOffline()
      try phone.db.document("orders/1").enqueueData(["status": "new"])
      try await board.expectNothing(within: .seconds(3600))
      try await phone.kill()  // as by kill -9: what waits is in the files

      try phone.fault("next write drop-ack")
      try await phone.goOnline()
      try await board.expect(.added("1"), .field("status", "new", of: "1"))
      try await phone.expectAcknowledged("orders/1")
      try await stage.expectSame()
    }
  }
  // Until here.

  // Shown in StagedTests.md:
  @Test("A rejected write is reverted and reported")
  func refusedWrite() async throws {
    try await TestStage.run { stage in
      let client = try await stage.client()
      try await stage.server.set("prices/tea", ["euros": 3])
      let prices = try await client.listen(to: client.db.collection("prices"))
      try await prices.expect(.synced, .field("euros", 3, of: "tea"))

      try client.fault("latency 200ms jitter 100ms on write")
      try client.fault("next write permission-denied")
      try client.db.document("prices/tea").enqueueUpdate(["euros": 1])
      try await prices.expect(.field("euros", 1, of: "tea"), .pendingWrites)
      try await prices.expect(.field("euros", 3, of: "tea"), .noPendingWrites)
      try await client.expectRejected(.permissionDenied, "prices/tea")
    }
  }
  // Until here.

  // Shown in StagedTests.md:
  @Test("Counters converge despite lost responses")
  func countersAgree() async throws {
    try await TestStage.run(seeds: 1...20) { stage in
      var random = stage.random()
      let clients = [try await stage.client("ada"), try await stage.client("bob")]
      for client in clients { try client.fault("loss 30% after") }
      try await stage.server.set("counters/a", ["n": 0])
      for _ in 0..<10 {
        let client = clients.randomElement(using: &random) ?? clients[0]
        try client.db.document("counters/a").enqueueUpdate(["n": FieldValue.increment(Int64(1))])
      }
      try await stage.waitForSync(within: .seconds(300))
      let counter = try await stage.server.document("counters/a")
      #expect(counter.get("n") as? Int == 10, "seed \(stage.seed)")
    }
  }
  // Until here.
}
