// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Several processes' runs")
  func severalProcesses() async throws {
    // Shown in SeveralProcesses.md:
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    let shop = Firestore.firestore(
      app: FirestoreApp(name: "shop", backend: .embedded(directory: directory)))
    let office = Firestore.firestore(
      app: FirestoreApp(name: "office", backend: .embedded(directory: directory)))
    try await shop.document("orders/1").setData(["status": "new"])
    print(try await office.document("orders/1").getDocument().data() ?? [:])
    // Until here.
    #expect(try await office.document("orders/1").getDocument().exists)
    // Shown in SeveralProcesses.md:
    let app = FirestoreApp(name: "worker", backend: .embedded(directory: directory))
    let worker = Firestore.firestore(app: app)
    let settings = worker.settings
    settings.cacheSettings = PersistentCacheSettings(tabManager: .multiple)
    worker.settings = settings
    try await worker.document("orders/2").enqueueData(["status": "new"]).local
    // Until here.
    #expect(try await worker.persistenceFailure == nil)
    for db in [shop, office, worker] { try await db.terminate() }
    try FileManager.default.removeItem(atPath: directory)
  }
}
