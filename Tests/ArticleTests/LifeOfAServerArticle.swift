// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'The life of a server' runs")
  func lifeOfAServer() async throws {
    // Shown in LifeOfAServer.md:
    /// Packs orders as they come, until its task is cancelled.
    struct Packing {
      let db: Firestore

      func run() async throws {
        for try await orders in db.collection("orders").whereField("status", isEqualTo: "new").snapshots {
          for order in orders.documents {
            try await order.reference.enqueueUpdate(["status": "packed"]).local
          }
        }
      }
    }
    // Until here.

    // Shown in LifeOfAServer.md:
    /// Runs the work until somebody asks it to stop.
    func serve(_ db: Firestore, until stop: AsyncStream<Void>) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await Packing(db: db).run() }
        group.addTask { for await _ in stop { return } }
        try await group.next()
        group.cancelAll()
      }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { try? await db.waitForPendingWrites() }
        group.addTask { try? await Task.sleep(for: .seconds(5)) }
        await group.next()
        group.cancelAll()
      }
      try await db.terminate()
    }
    // Until here.

    let backend = Backend.inMemory(named: UUID().uuidString)
    let visitor = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: backend))
    let db = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: backend))
    // Shown in LifeOfAServer.md:
    if let failure = try await db.persistenceFailure { print("no cache on disk: \(failure.message)") }
    for rejected in try await db.rejectedWrites.current { print(rejected.paths, rejected.error.message) }
    // Until here.
    #expect(try await db.rejectedWrites.current.isEmpty)
    let (stop, stopping) = AsyncStream<Void>.makeStream()
    async let served: Void = serve(db, until: stop)
    try await visitor.document("orders/1").setData(["status": "new"])
    for try await order in visitor.document("orders/1").snapshots where order.get("status") as? String == "packed" {
      break
    }
    stopping.yield()
    try await served
    await #expect { try await db.document("orders/1").getDocument() } throws: {
      ($0 as? FirestoreError)?.code == .failedPrecondition
    }
    try await visitor.terminate()
  }
}
