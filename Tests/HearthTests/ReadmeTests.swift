// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth
import Testing

/// The README's Swift, as it stands there, on a database in which nothing is.
@Suite(.timeLimit(.minutes(5)))
struct ReadmeTests {
  struct City: Codable {
    @DocumentID var id: String?
    @ServerTimestamp var updated: Date?
    var name: String
    var population: Int
  }

  @Test("Listen, write a value, add to it in a transaction, follow the collection, and make indexes")
  func program() async throws {
    try await TestDatabase.runDurably { test async throws in
      let db = test.db
      let listener = db.collection("cities").whereField("state", isEqualTo: "CA")
        .addSnapshotListener(includeMetadataChanges: true) { snapshot, error in
          guard let snapshot else { return print(error!) }
          print(snapshot.documents.count, snapshot.metadata.isFromCache ? "from cache" : "from server")
        }

      let city = db.document("cities/SF")
      let write = try city.enqueueData(from: City(name: "San Francisco", population: 860_000))
      try await write.local  // durable here and visible to listeners
      try await write.acknowledged  // and at the backend, where transactions read
      try await db.runTransaction { transaction in
        let current = try await transaction.getDocument(city).data(as: City.self)
        transaction.updateData(["population": current.population + 1], forDocument: city)
      }
      #expect(try await city.getDocument(as: City.self, source: .server).population == 860_001)
      let following = Task {
        for try await cities in db.collection("cities").snapshots(as: City.self) { print(cities.count) }
      }

      try await db.setIndexConfiguration([
        IndexDefinition(
          collectionGroup: "cities",
          fields: [IndexField(fieldPath: "state"), IndexField(fieldPath: "population", order: .descending)])
      ])
      print(try await db.collection("cities").whereField("state", isEqualTo: "CA").explain())
      db.persistentCacheIndexManager?.enableIndexAutoCreation()

      following.cancel()
      _ = await following.result
      listener.remove()
    }
  }

  @Test("What runs above is what the README says, line by line")
  func lines() throws {
    let file = URL(fileURLWithPath: #filePath)
    let readme = file.deletingLastPathComponent().appendingPathComponent("../../README.md")
    let all = Self.lines(of: try String(contentsOf: file, encoding: .utf8))
    var tested = all[...]
    var isSwift = false
    var count = 0
    for line in Self.lines(of: try String(contentsOf: readme, encoding: .utf8)) {
      if line.hasPrefix("```") {
        isSwift = line == "```swift"
      } else if isSwift, !Self.isSetUp(line) {
        // Declarations come first here; of the rest the order counts, since a line uses what those before it made.
        let isDeclaration = line.hasPrefix("@") || line.hasPrefix("var ")
        let place = isDeclaration ? all.firstIndex(of: line) : tested.firstIndex(of: line)
        let found = try #require(place, "The README says, and no test runs: \(line)")
        if !isDeclaration, line != "}" { tested = all[found...] }
        count += 1
      }
    }
    #expect(count > 20)
  }

  @Test("The program that is watched is the one of the tests, as it stands there")
  func shop() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let readme = try String(contentsOf: folder.appendingPathComponent("../../README.md"), encoding: .utf8)
    let program = try String(contentsOf: folder.appendingPathComponent("../Shop/main.swift"), encoding: .utf8)
    let block = readme.components(separatedBy: "```swift shop\n").last?.components(separatedBy: "```").first
    #expect(block == program.split(separator: "\n", maxSplits: 1).last.map(String.init))
  }

  /// What is different in a test: where the data is, and what is declared outside of the function.
  private static func isSetUp(_ line: String) -> Bool {
    line.isEmpty || line.hasPrefix("import ") || line == "let db = Firestore.firestore()"
      || line == "struct City: Codable {"
  }

  private static func lines(of text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.split(separator: " ").joined(separator: " ")
    }
  }
}
