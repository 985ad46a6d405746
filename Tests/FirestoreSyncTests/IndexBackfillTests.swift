// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct IndexBackfillTests {
  private func filled(_ harness: inout CoreHarness, _ count: Int) throws {
    var event = RemoteEvent(version: at(1))
    for number in 0..<count {
      let document = doc("rooms/r\(number)", at: 1, ["n": .integer(Int64(number % 100))])
      event.documents[document.key] = document
    }
    _ = try harness.core.store.apply(event)
  }

  @Test("One index slice is requested at a time until the index is complete")
  func slices() throws {
    var harness = try CoreHarness()
    harness.core.store.backfillPacer = .pieces(10)
    try filled(&harness, 900)
    let idle = harness.effects { _ in }
    try harness.core.store.setIndexes([
      try FieldIndex(collectionGroup: "rooms", fields: [FieldIndex.Field(FieldPath("n"))])
    ])
    var scheduled: [Int] = []
    for _ in 0..<3 {
      let effects = harness.effects { _ in } + harness.effects { _ in }
      scheduled.append(effects.filter { if case .schedule(.indexBackfill, _) = $0 { true } else { false } }.count)
      harness.core.fire(.indexBackfill)
    }

    #expect(idle.isEmpty)
    #expect(scheduled == [1, 1, 0])
    let indexes = try harness.core.store.indexes()
    #expect(indexes.map(\.backfill) == [nil])
  }

  @Test("A query explanation reports the plan, the cost and a useful index")
  func explanation() throws {
    var harness = try CoreHarness()
    try filled(&harness, 1000)
    var wanted = query("rooms")
    wanted.filters = [.field(FieldFilter(FieldPath("n"), .equal, .integer(5)))]
    let scan = try harness.core.explain(wanted)
    try harness.core.store.setIndexes(scan.suggestedIndexes)
    let building = try harness.core.explain(wanted)
    while try harness.core.store.backfillIndexes() {}
    let indexed = try harness.core.explain(wanted)

    #expect([scan.plan, building.plan, indexed.plan] == [.scan, .scan, .index])
    #expect([scan.documentsScanned, indexed.documentsScanned] == [1000, 10])
    #expect([scan.documentsReturned, indexed.documentsReturned] == [10, 10])
    #expect([scan.isBuildingIndexes, building.isBuildingIndexes, indexed.isBuildingIndexes] == [false, true, false])
    #expect(indexed.indexes.map(\.servedFilters) == [wanted.filters.flatMap(\.fieldFilters)])
    #expect(indexed.suggestedIndexes.isEmpty)
  }

  @Test("The engine builds a new index in the background")
  func background() async throws {
    try await EngineHarness.run { test in
      let (_, mailbox) = test.listen("rooms")
      let (watch, target) = try await test.nextWatch()
      await watch.sync(target, (0..<5).map { doc("rooms/r\($0)", at: 5) }, at: 5)
      _ = try await mailbox.snapshot()
      try await test.engine.setIndexes([
        try FieldIndex(collectionGroup: "rooms", fields: [FieldIndex.Field(FieldPath("n"))])
      ])
      let before = try await test.engine.indexes()
      await test.clock.waitForSleeper(.milliseconds(10))
      test.clock.advance(by: .milliseconds(10))
      let status = test.engine.status()
      for await _ in status where try await test.engine.indexes().first?.backfill == nil { break }

      #expect(before.map { $0.backfill?.documentsTotal } == [5])
    }
  }
}
