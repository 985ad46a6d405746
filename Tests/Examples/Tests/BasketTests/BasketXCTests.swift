// SPDX-License-Identifier: Apache-2.0

import Basket
import Hearth
import HearthTesting
import XCTest

/// The same stage in XCTest.
final class BasketXCTests: XCTestCase {
  func testPiecesAreToldAsTheyChange() async throws {
    let seen = try await TestStage.run { stage in
      let phone = try await stage.client("phone", user: "ada")
      let basket = Basket(of: "ada", in: phone.db)
      try await basket.add(2, of: "tea")
      var seen: [Int] = []
      for try await pieces in basket.pieces() where pieces != seen.last {
        seen.append(pieces)
        if pieces == 5 { break }
        try await stage.server.set("shoppers/ada/basket/milk", ["pieces": 3])
      }
      return seen
    }
    XCTAssertEqual(seen, [2, 5])
  }

  func testAnUnmetExpectationNamesItsLineAndSeed() async throws {
    do {
      try await TestStage.run(seed: 7) { stage in
        try await stage.client().expectPending(1, within: .seconds(1))
      }
      XCTFail("nothing waits")
    } catch let failure as StageFailure {
      XCTAssertEqual(failure.seed, 7)
      XCTAssertTrue(failure.description.hasPrefix("BasketTests/BasketXCTests.swift:"), failure.description)
    }
  }
}
