// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import Testing

@testable import FirestoreBackend

@Suite struct LimitWindowTests {
  @Test(
    "A limit window's capacity is the limit plus a reserve, without overflow",
    arguments: [(1, 17), (100, 200), (1000, 1256), (Int.max - 1, .max), (.max, .max)])
  func capacity(limit: Int, capacity: Int) {
    let target = Query(path: ResourcePath("c"), limit: limit).target
    #expect(LimitWindow(target, limit: limit).capacity == capacity)
  }
}
