// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

@Suite("Local indexes")
struct IndexTests {
  private func fill(_ db: Firestore, _ count: Int) async throws {
    let batch = db.batch()
    for number in 0..<count {
      batch.setData(
        ["state": "s\(number % 50)", "population": number], forDocument: db.document("cities/c\(number)"))
    }
    try await batch.commit()
    _ = try await db.collection("cities").getDocuments()
  }

  private func waitUntilReady(_ db: Firestore) async throws {
    for await indexes in db.localIndexUpdates where indexes.allSatisfy(\.isReady) { break }
  }

  @Test("JSON and typed index definitions are equal, and an explanation names the index")
  func explain() async throws {
    try await TestDatabase.run { test async throws in
      let db = test.db
      try await fill(db, 300)
      let query = db.collection("cities").whereField("state", isEqualTo: "s7").order(by: "population").limit(to: 2)
      let scan = try await query.explain()
      try await db.setIndexConfiguration(scan.suggestedIndexes)
      let typed = try await db.localIndexes().map(\.definition)
      try await db.setIndexConfiguration(
        """
        {"indexes": [{"collectionGroup": "cities", "queryScope": "COLLECTION", "density": "SPARSE_ALL", "fields": [
            {"fieldPath": "state", "order": "ASCENDING"}, {"fieldPath": "population", "order": "ASCENDING"},
            {"fieldPath": "__name__", "order": "ASCENDING"}]}],
         "fieldOverrides": [{"collectionGroup": "cities", "fieldPath": "tags", "ttl": true,
            "indexes": [{"arrayConfig": "CONTAINS", "queryScope": "COLLECTION"}]}]}
        """)
      let configured = try await db.localIndexes()
      try await waitUntilReady(db)
      let indexed = try await query.explain()

      #expect(scan.plan == .scan)
      #expect(scan.documentsScanned == 300)
      #expect(
        scan.description.contains("An index would read fewer documents: cities(state ascending, population ascending)"))
      #expect(typed.map(\.description) == ["cities(state ascending, population ascending)"])
      #expect(
        configured.map(\.definition.description) == [
          "cities(state ascending, population ascending)", "cities(tags contains)",
        ])
      #expect(indexed.plan == .index)
      #expect(indexed.isFromCache)
      // An index that names half of the collection would read no less than a scan does; it is not advised again.
      try await db.setIndexConfiguration([
        IndexDefinition(collectionGroup: "cities", fields: [IndexField(fieldPath: "population")])
      ])
      try await waitUntilReady(db)
      let broad = try await db.collection("cities").whereField("population", isGreaterThan: 1).explain()
      #expect(broad.plan == .scan && broad.suggestedIndexes.isEmpty, "\(broad)")
      #expect(indexed.documentsScanned == 2)
      #expect(indexed.documentsReturned == 2)
      #expect(
        indexed.description.contains(
          "Index cities(state ascending, population ascending) for state == \"s7\" and the order."))
    }
  }

  @Test(
    "An invalid index configuration is reported with line, column, entry and reason",
    arguments: [
      ("[]", "line 1, column 1: The configuration must be an object"),
      ("{\"indexes\": 1}", "line 1, column 13: indexes must be a list, not an integer"),
      ("{\"indexes\": [\n  {\"fields\": []}]}", "line 2, column 3: indexes[0].collectionGroup is missing"),
      (
        "{\"indexes\": [{\"collectionGroup\": \"a\", \"fields\": []}]}",
        "indexes[0]: The index on collection group \"a\""
      ),
      (
        "{\"indexes\": [{\"collectionGroup\": \"a\", \"fields\": [{\"fieldPath\": \"b\", \"order\": \"UP\"}]}]}",
        "column 78: indexes[0].fields[0].order must be ASCENDING or DESCENDING, not \"UP\""
      ),
      (
        "{\"indexes\": [{\"collectionGroup\": \"a\", \"fields\": [{\"fieldPath\": \"b\"}]}]}",
        "indexes[0].fields[0] needs \"order\""
      ),
      (
        """
        {"indexes": [{"collectionGroup": "a", "fields": [
          {"fieldPath": "b", "order": "ASCENDING", "arrayConfig": "CONTAINS"}]}]}
        """, "line 2, column 3: indexes[0].fields[0] has both"
      ),
      (
        "{\"indexes\": [{\"collectionGroup\": \"a\", \"queryScope\": \"ALL\"}]}",
        "indexes[0].queryScope must be COLLECTION or COLLECTION_GROUP, not \"ALL\""
      ),
      (
        "{\"fieldOverrides\": [{\"collectionGroup\": \"a\", \"fieldPath\": \"b..c\", \"indexes\": []}]}",
        "fieldOverrides[0].fieldPath"
      ),
      ("{\"fieldOverrides\": [7]}", "line 1, column 21"),
      ("{\"indexs\": []}", "line 1, column 12: indexs is unknown. Expected indexes, fieldOverrides."),
      ("{}", "\"indexes\" is missing"), ("{\"indexes\": [] /* open", "line 1, column 16"),
    ])
  func wrongConfiguration(_ json: String, _ text: String) async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.setIndexConfiguration([
        IndexDefinition(collectionGroup: "kept", fields: [IndexField(fieldPath: "x")])
      ])
      await expect(.invalidArgument, text) { try await test.db.setIndexConfiguration(json) }
      let indexes = try await test.db.localIndexes()
      #expect(indexes.map(\.definition.collectionGroup) == ["kept"])
    }
  }

  @Test("An invalid typed index definition gives the reason; vector indexes are skipped")
  func otherDefinitions() async throws {
    try await TestDatabase.run { test async throws in
      await expect(.invalidArgument, "names b twice") {
        try await test.db.setIndexConfiguration([
          IndexDefinition(
            collectionGroup: "a",
            fields: [IndexField(fieldPath: "b"), IndexField(fieldPath: "b", arrayConfig: .contains)])
        ])
      }
      try await test.db.setIndexConfiguration(
        """
        {"indexes": [{"collectionGroup": "a", "fields": [
          {"fieldPath": "v", "vectorConfig": {"dimension": 3, "flat": {}}}]}]}
        """)
      let indexes = try await test.db.localIndexes()
      #expect(indexes.isEmpty)
    }
  }

  @Test("The index manager creates useful indexes and deletes all indexes")
  func manager() async throws {
    try await TestDatabase.runDurably { test async throws in
      let db = test.db
      let manager = try #require(db.persistentCacheIndexManager)
      let query = db.collection("cities").whereField("state", isEqualTo: "s7")
      try await fill(db, 300)
      manager.enableIndexAutoCreation()
      _ = try await query.getDocuments(source: .cache)
      manager.disableIndexAutoCreation()
      _ = try await db.collection("cities").whereField("population", isEqualTo: 7).getDocuments(source: .cache)
      let made = try await db.localIndexes()
      try await waitUntilReady(db)
      let indexed = try await query.explain()
      manager.deleteAllIndexes()
      let rest = try await db.localIndexes()

      #expect(made.map(\.definition.description) == ["cities(state ascending)"])
      #expect(made.map(\.isAutomatic) == [true])
      #expect(indexed.plan == .index)
      #expect(indexed.documentsReturned == 6)
      #expect(rest.isEmpty)
    }
  }

  @Test("The memory cache supports indexes but has no index manager")
  func memoryCache() async throws {
    try await TestDatabase.run { test async throws in
      let settings = FirestoreSettings()
      settings.cacheSettings = MemoryCacheSettings()
      test.db.settings = settings
      #expect(test.db.persistentCacheIndexManager == nil)
      try await test.db.setIndexConfiguration([
        IndexDefinition(collectionGroup: "cities", fields: [IndexField(fieldPath: "state")])
      ])
      try await fill(test.db, 100)
      try await waitUntilReady(test.db)
      let explanation = try await test.db.collection("cities").whereField("state", isEqualTo: "s7").explain()
      #expect(explanation.plan == .index)
    }
  }
}
