// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreTesting
import Foundation
import Hearth
import Testing

/// The writes that the backend refused, as a program sees them.
@Suite("Rejected writes", .timeLimit(.minutes(10)))
struct RejectedWriteTests {
  @Test("A rejected write describes its changes and can be sent again")
  func resend() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      let write = try test.db.batch()
        .setData(["name": "Paris"], forDocument: test.db.document("cities/P"), merge: true)
        .updateData(["n": 7, "old": FieldValue.delete(), "at": FieldValue.serverTimestamp()], forDocument: city)
        .deleteDocument(test.db.document("cities/X")).enqueue()
      await #expect { try await write.acknowledged } throws: { code(of: $0) == .notFound }

      var lists = test.db.rejectedWrites.makeAsyncIterator()
      let rejected = try #require(await lists.first { !$0.isEmpty }?.first)
      #expect(rejected.id == (try await write.id))
      #expect(rejected.paths == ["cities/P", "cities/SF", "cities/X"])
      #expect(rejected.operations.map(\.kind) == [.merge, .update, .delete])
      #expect(rejected.operations[1].data()["n"] as? Int == 7)
      #expect(rejected.operations[1].removedFields == ["old"])
      #expect(rejected.operations[1].computedFields == ["at"])
      #expect(rejected.error.code == .notFound)
      #expect(rejected.attempts == 1)
      #expect(rejected.byteCount > 0)
      #expect(rejected.rejectedAt >= rejected.writtenAt)
      #expect(try await test.db.collection("cities").getDocuments(source: .cache).isEmpty)

      try await test.other.document("cities/SF").setData(["old": 1])
      try await test.db.resendRejectedWrite(rejected.id).acknowledged

      let document = try await test.other.document("cities/SF").getDocument(source: .server)
      #expect(document.get("n") as? Int == 7)
      #expect(document.get("old") == nil)
      #expect(await lists.first { $0.isEmpty } != nil)
    }
  }

  @Test("A rejected write can be sent in another form or dropped")
  func editAndDrop() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      var ids: [Int64] = []
      for _ in 0..<3 {
        let write = try city.enqueueUpdate(["n": 1])
        await #expect { try await write.acknowledged } throws: { code(of: $0) == .notFound }
        ids.append(try await write.id)
      }

      try await test.db.resendRejectedWrite(ids[0], as: test.db.batch().setData(["n": 2], forDocument: city))
        .acknowledged
      #expect(try await test.other.document("cities/SF").getDocument(source: .server).get("n") as? Int == 2)
      try await test.db.dropRejectedWrite(ids[1])
      await expect(.notFound, "rejected") { try await test.db.dropRejectedWrite(ids[1]) }
      await expect(.notFound, "rejected") { try await test.db.resendRejectedWrite(ids[0]).local }
      #expect(try await test.db.dropAllRejectedWrites() == 1)
      #expect(try await test.db.dropAllRejectedWrites() == 0)
    }
  }

  @Test("A rejected write survives a restart")
  func restart() async throws {
    let folder = TemporaryFolder()
    let app = FirestoreApp(name: "restart", backend: .embedded(directory: folder.path).patient)
    var db = Firestore.firestore(app: app)
    let write = try db.document("cities/SF").enqueueUpdate(["n": 1])
    await #expect { try await write.acknowledged } throws: { code(of: $0) == .notFound }
    let id = try await write.id
    try await db.terminate()

    db = Firestore.firestore(app: app)
    var lists = db.rejectedWrites.makeAsyncIterator()
    let rejected = try #require(await lists.next()?.first)
    #expect(rejected.id == id)
    #expect(rejected.error.code == .notFound)
    #expect(rejected.operations.first?.data()["n"] as? Int == 1)
    try await db.terminate()
  }
}

extension StatusUpdates.Iterator {
  fileprivate mutating func first(where isWanted: (Element) -> Bool) async -> Element? {
    while let element = await next() { if isWanted(element) { return element } }
    return nil
  }
}
