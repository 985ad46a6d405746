// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import HearthTesting
import Testing

/// Clients that share a cache, and clients whose clocks are wrong.
@Suite("Tabs and clocks", .timeLimit(.minutes(10)))
struct TabTests {
  @Test("A write in one tab appears in another, which takes over a killed tab's streams")
  func takeover() async throws {
    try await TestStage.run { stage in
      let ada = try await stage.client("ada", cache: .shared)
      let bob = try await stage.client("bob", cache: .of(ada))
      let rows = try await bob.listen(to: bob.db.collection("cities"))
      try await rows.expect(.synced)
      #expect(await ada.hasStreams())
      #expect(await !bob.hasStreams())
      try ada.fault("down write")
      try ada.db.document("cities/SF").enqueueData(["state": "CA"])
      try await rows.expect(.added("SF"), .pendingWrites)
      try await ada.kill()
      try await bob.expectPending(0)
      #expect(await bob.hasStreams())
      #expect(await !ada.hasStreams())
      #expect(try await stage.server.document("cities/SF").exists)
    }
  }

  @Test("An unshared cache rejects another client and suggests sharing")
  func refused() async throws {
    try await TestStage.run { stage in
      let ada = try await stage.client("ada")
      let failure = await #expect(throws: StageFailure.self) { _ = try await stage.client("bob", cache: .of(ada)) }
      #expect(failure?.kind == .misuse && failure?.reason.contains("cache: .shared") == true)
    }
  }

  @Test("A fast clock shifts timestamp estimates, even after a restart, not server times")
  func clock() async throws {
    try await TestStage.run { stage in
      let client = try await stage.client()
      client.setClock(ahead: .seconds(7200))
      try await client.restart()
      try await client.goOffline()
      let note = client.db.document("notes/a")
      let write = try note.enqueueData(["at": FieldValue.serverTimestamp()])
      try await write.local
      let estimate = try await note.getDocument(source: .cache).get("at", serverTimestampBehavior: .estimate)
      #expect((estimate as? Hearth.Timestamp)?.dateValue() ?? .distantPast >= stage.date.addingTimeInterval(7000))
      try await client.goOnline()
      try await client.expectAcknowledged("notes/a")
      let time = try await stage.server.document("notes/a").get("at") as? Hearth.Timestamp
      #expect(time?.dateValue() ?? .distantFuture <= stage.date)
    }
  }
}
