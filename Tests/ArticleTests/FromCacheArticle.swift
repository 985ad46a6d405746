// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'What fromCache means' runs")
  func fromCache() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in FromCache.md:
      let listener = db.collection("cities").addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
        guard let metadata = snapshot?.metadata else { return }
        let place = metadata.isFromCache ? "from the cache, perhaps stale" : "complete and current"
        print(place, metadata.hasPendingWrites ? "with local writes" : "", metadata.causes)
      }
      // Until here.
      try await db.document("cities/SF").setData(["name": "San Francisco"])
      // Shown in FromCache.md:
      for try await snapshot in db.collection("cities").snapshots(includeMetadataChanges: true) {
        print(snapshot.metadata.causes.map(\.description).joined(separator: ", "))
        if !snapshot.metadata.isFromCache { break }
      }
      // Until here.
      // Shown in FromCache.md:
      let offline = SnapshotListenOptions().withSource(.cache).withIncludeMetadataChanges(true)
      let watcher = db.collection("cities").addSnapshotListener(options: offline) { snapshot, _ in
        print(snapshot?.count ?? 0, "cities are in the cache")
      }
      // Until here.
      listener.remove()
      watcher.remove()
    }
  }
}
