// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Writes in two stages' runs")
  func twoStageWrites() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in TwoStageWrites.md:
      let write = try db.document("cities/SF").enqueueData(["name": "San Francisco"])
      try await write.local  // survives this process, and listeners see it
      try await write.acknowledged  // committed by the backend
      // Until here.
      // Shown in TwoStageWrites.md:
      let batch = db.batch()
        .setData(["name": "Los Angeles"], forDocument: db.document("cities/LA"))
        .updateData(["twin": "LA"], forDocument: db.document("cities/SF"))
      try await batch.enqueue().local
      let (city, added) = try db.collection("cities").enqueueDocument(data: ["name": "San Diego"])
      try await added.local
      print(city.documentID)
      // Until here.
      // Shown in TwoStageWrites.md:
      for pending in try await db.pendingWrites.current {
        print(pending.id, pending.paths, pending.state, pending.lastError?.message ?? "")
      }
      for await queue in db.pendingWrites {
        print(queue.count, "writes wait")
        if queue.isEmpty { break }
      }
      // Until here.
      #expect(try await db.collection("cities").getDocuments(source: .server).count == 3)
      // Shown in TwoStageWrites.md:
      try await db.disableNetwork()
      let mistake = try db.document("cities/SF").enqueueDelete()
      try await db.cancelPendingWrite(mistake.id)
      do {
        try await mistake.acknowledged
      } catch FirestoreErrorCode.cancelled {
        print("taken back")
      }
      // Until here.
      #expect(try await db.document("cities/SF").getDocument().exists)
      // Shown in TwoStageWrites.md:
      do {
        let bid = try db.document("auctions/7").enqueueData(
          ["bid": 120], options: WriteOptions(deadline: .seconds(10), failsIfOffline: true))
        try await bid.acknowledged
      } catch FirestoreErrorCode.unavailable {
        print("offline: nothing was written")
      } catch FirestoreErrorCode.deadlineExceeded {
        print("too late: taken back before it was sent")
      }
      // Until here.
      #expect(try await db.pendingWrites.current.isEmpty)
    }
  }
}
