// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  private struct NotEnough: Error { let balance: Int }

  @Test("The code in the article 'Transactions' runs")
  func transactions() async throws {
    try await ArticleDatabase.run { db async throws in
      try await db.document("accounts/ada").setData(["balance": 50])
      try await db.document("accounts/grace").setData(["balance": 1])
      // Shown in Transactions.md:
      let (from, to) = (db.document("accounts/ada"), db.document("accounts/grace"))
      let left = try await db.runTransaction { transaction in
        let balance = try await transaction.getDocument(from).get("balance") as? Int ?? 0
        guard balance >= 20 else { throw NotEnough(balance: balance) }
        transaction.updateData(["balance": balance - 20], forDocument: from)
        transaction.updateData(["balance": FieldValue.increment(Int64(20))], forDocument: to)
        return balance - 20
      }
      print(left, "left")
      // Until here.
      #expect(left == 30)
      #expect(try await to.getDocument().get("balance") as? Int == 21)
      let counter = db.document("counters/a")
      try await counter.setData(["count": 1])
      // Shown in Transactions.md:
      let options = TransactionOptions()
      options.maxAttempts = 1
      do {
        try await db.runTransaction(with: options) { transaction in
          let count = try await transaction.getDocument(counter).get("count") as? Int ?? 0
          try await counter.updateData(["count": 10])  // somebody else, in between
          transaction.updateData(["count": count + 1], forDocument: counter)
        }
      } catch let error as FirestoreError where [.failedPrecondition, .aborted].contains(error.code) {
        print("changed meanwhile: \(error.message)")
      }
      // Until here.
      #expect(try await counter.getDocument(source: .server).get("count") as? Int == 10)
      // Shown in Transactions.md:
      try counter.enqueueUpdate(["count": FieldValue.increment(Int64(1)), "seen": FieldValue.serverTimestamp()])
      // Until here.
      try await db.waitForPendingWrites()
      #expect(try await counter.getDocument(source: .server).get("count") as? Int == 11)
    }
  }
}
