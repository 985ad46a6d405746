// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  // Shown in Testing.md:
  @Test("A listener sees a city that another client adds")
  func cityIsSeen() async throws {
    let backend = Backend.inMemory(named: UUID().uuidString)
    let db = Firestore.firestore(app: FirestoreApp(name: "app", backend: backend))
    let visitor = Firestore.firestore(app: FirestoreApp(name: "visitor", backend: backend))

    try await visitor.document("cities/SF").setData(["name": "San Francisco"])

    for try await cities in db.collection("cities").snapshots where !cities.isEmpty {
      #expect(cities.documents.map(\.documentID) == ["SF"])
      break
    }
    try await db.terminate()
    try await visitor.terminate()
  }
  // Until here.

  // Shown in Testing.md:
  @Test("An order made offline is delivered after reconnecting")
  func orderIsDelivered() async throws {
    let db = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: .inMemory))
    try await db.disableNetwork()
    let order = try db.document("orders/1").enqueueData(["status": "new"])
    try await order.local
    #expect(try await db.pendingWrites.current.count == 1)

    try await db.enableNetwork()
    try await order.acknowledged
    let stored = try await db.document("orders/1").getDocument(source: .server)
    #expect(stored.get("status") as? String == "new")
    try await db.terminate()
  }
  // Until here.
}
