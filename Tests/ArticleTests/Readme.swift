// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The program in the README runs")
  func readme() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in README.md:
      let listener = db.collection("people").whereField("age", isGreaterThan: 40).addSnapshotListener { people, error in
        guard let people else { return print(error!) }
        print(people.documents.map(\.documentID), people.metadata.isFromCache ? "from the cache" : "from the server")
      }
      let write = try db.document("people/edsger").enqueueData(["name": "Edsger", "age": 72])
      try await write.local  // stored on this machine; listeners see it
      try await write.acknowledged  // committed by the backend
      // Until here.
      listener.remove()
    }
  }

  @Test("The program on the manual's library page runs")
  func library() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in Manual/Library.md:
      struct City: Codable {
        @DocumentID var id: String?
        @ServerTimestamp var updated: Date?
        var name: String
        var population: Int
      }

      let city = db.document("cities/SF")
      let write = try city.enqueueData(from: City(name: "San Francisco", population: 860_000))
      try await write.local  // durable here and visible to listeners
      try await write.acknowledged  // and at the backend, where transactions read
      try await db.runTransaction { transaction in
        let current = try await transaction.getDocument(city).data(as: City.self)
        transaction.updateData(["population": current.population + 1], forDocument: city)
      }
      for try await cities in db.collection("cities").snapshots(as: City.self) {
        print(cities.map(\.name))
        if cities.contains(where: { $0.population > 860_000 }) { break }
      }
      // Until here.
      // Shown in Manual/Library.md:
      try await db.setIndexConfiguration([
        IndexDefinition(
          collectionGroup: "cities",
          fields: [IndexField(fieldPath: "state"), IndexField(fieldPath: "population", order: .descending)])
      ])
      print(try await db.collection("cities").whereField("state", isEqualTo: "CA").explain())
      db.persistentCacheIndexManager?.enableIndexAutoCreation()
      // Until here.
    }
    // Shown in Manual/Library.md:
    let session = UserSession()
    let notes = FirestoreApp(name: "notes", projectID: "p", backend: .remote(), credentials: session)
    try session.signIn(mockUser: "alice", claims: ["admin": true])  // at emulators; or signIn(userID:token:)
    print(notes.credentials?.userID ?? "nobody")
    // Until here.
  }
}
