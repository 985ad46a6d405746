// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

private struct City: Codable {
  @DocumentID var id: String?
  @ServerTimestamp var updated: Date?
  var name: String
  var population: Int
}

/// The README's example does what it says.
@Suite(.timeLimit(.minutes(5)))
struct ReadmeTests {
  @Test("Write a value, add to it in a transaction, and follow the collection")
  func example() async throws {
    try await TestDatabase.run { test async throws in
      let db = test.db
      let city = db.document("cities/SF")
      let write = try city.enqueueData(from: City(name: "San Francisco", population: 860_000))
      try await write.local
      try await write.acknowledged
      try await db.runTransaction { transaction in
        let current = try await transaction.getDocument(city).data(as: City.self)
        transaction.updateData(["population": current.population + 1], forDocument: city)
      }
      for try await cities in db.collection("cities").snapshots(as: City.self) {
        #expect(cities.map(\.id) == ["SF"])
        if cities.first?.population == 860_001 { break }
      }
    }
  }
}
