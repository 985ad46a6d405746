// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Hearth
import Logging
import Testing

extension ArticleTests {
  @Test("The code in the article 'Logging' runs")
  func logging() async throws {
    try await ArticleDatabase.run { db async throws in
      await OneAtATime.log.take()
      // Shown in Logging.md:
      let logger = Logger(label: "firestore")
      Firestore.enableLogging { entry in
        logger.log(
          level: entry.isWarning ? .warning : .debug, "\(entry.message)", metadata: ["database": "\(entry.database)"])
      }
      // Until here.
      try await db.document("a/b").setData(["x": 1])
      let listener = db.collection("a").addSnapshotListener { _, _ in }
      // Shown in Logging.md:
      for await connection in db.onlineState where connection.phase == .online {
        print("connected")
        break
      }
      // Until here.
      listener.remove()
      Firestore.enableLogging(false)
      await OneAtATime.log.give()
      #expect(try await db.onlineState.current.phase == .online)
    }
  }
}
