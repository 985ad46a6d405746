// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Rejected writes' runs")
  func rejectedWrites() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in RejectedWrites.md:
      let update = try db.document("orders/7").enqueueUpdate(["status": "paid"])
      do {
        try await update.acknowledged
      } catch FirestoreErrorCode.notFound {
        print("There is no such order.")
      }
      for rejected in try await db.rejectedWrites.current {
        print(rejected.paths, rejected.operations.map(\.kind), rejected.error.message)
      }
      // Until here.
      #expect(try await db.rejectedWrites.current.map(\.paths) == [["orders/7"]])
      // Shown in RejectedWrites.md:
      if let rejected = try await db.rejectedWrites.current.last {
        let instead = db.batch().setData(["status": "paid"], forDocument: db.document("orders/7"))
        try await db.resendRejectedWrite(rejected.id, as: instead).acknowledged
      }
      // Until here.
      #expect(try await db.document("orders/7").getDocument().get("status") as? String == "paid")
      // Shown in RejectedWrites.md:
      print(try await db.dropAllRejectedWrites(), "dropped")
      // Until here.
      // Shown in RejectedWrites.md:
      for await list in db.rejectedWrites {
        if list.isEmpty { break }
        print(list.count, "writes were rejected")
      }
      // Until here.
    }
  }
}
