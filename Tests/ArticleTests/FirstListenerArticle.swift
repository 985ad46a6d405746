// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Your first listener' runs")
  func firstListener() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in FirstListener.md:
      let listener = db.collection("cities").whereField("state", isEqualTo: "CA")
        .addSnapshotListener { snapshot, error in
          guard let snapshot else { return print("The listener has ended: \(error!)") }
          for change in snapshot.documentChanges {
            print(change.type, change.document.documentID, change.document.data())
          }
        }
      try await db.document("cities/SF").setData(["name": "San Francisco", "state": "CA"])
      // Until here.
      #expect(try await db.document("cities/SF").getDocument().exists)
      // Shown in FirstListener.md:
      listener.remove()
      // Until here.
      // Shown in FirstListener.md:
      for try await snapshot in db.collection("cities").snapshots {
        print(snapshot.count, "cities, the first is", snapshot.documents.first?.documentID ?? "none")
        if snapshot.count == 1 { break }
      }
      // Until here.
      // Shown in FirstListener.md:
      struct City: Codable {
        @DocumentID var id: String?
        @ServerTimestamp var updated: Date?
        var name: String
        var state: String
      }
      // Until here.
      // Shown in FirstListener.md:
      try await db.document("cities/LA").enqueueData(from: City(name: "Los Angeles", state: "CA")).local
      for try await cities in db.collection("cities").order(by: "name").snapshots(as: City.self) {
        print(cities.map(\.name))
        if cities.count == 2 { break }
      }
      // Until here.
    }
  }
}
