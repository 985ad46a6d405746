// SPDX-License-Identifier: Apache-2.0

import Basket
import Hearth
import HearthTesting
import Testing

@Suite("Baskets")
struct StagedBasketTests {
  @Test("Items added offline on two devices are summed")
  func twoDevices() async throws {
    try await TestStage.run { stage in
      let phone = try await stage.client("phone", user: "ada")
      let tablet = try await stage.client("tablet", user: "ada")
      let basket = try await phone.listen(to: phone.db.collection("shoppers/ada/basket"))
      try await basket.expect(.synced, .empty)
      try await phone.goOffline()
      try await tablet.goOffline()
      try await Basket(of: "ada", in: phone.db).add(2, of: "tea")
      try await Basket(of: "ada", in: tablet.db).add(3, of: "tea")
      try await basket.expect(.field("pieces", 2, of: "tea"), .pendingWrites)
      try await stage.wait(.seconds(3 * 86_400))
      try await tablet.goOnline()
      try await phone.goOnline()
      try await basket.expect(.field("pieces", 5, of: "tea"), .synced, .noPendingWrites, within: .seconds(60))
      try await stage.expectSame()
    }
  }

  @Test("No item is lost or added twice on a lossy network")
  func losses() async throws {
    try await TestStage.run(seeds: 1...10) { stage in
      let phone = try await stage.client("phone", user: "ada")
      try phone.fault("latency 50ms jitter 400ms")
      try phone.fault("loss 20% before")
      try phone.fault("loss 20% after")
      let basket = Basket(of: "ada", in: phone.db)
      for _ in 1...10 { try await basket.add(1, of: "tea") }
      try await stage.waitForSync(within: .seconds(600))
      let stored = try await stage.server.document("shoppers/ada/basket/tea")
      #expect(stored.get("pieces") as? Int == 10, "seed \(stage.seed)")
    }
  }
}
