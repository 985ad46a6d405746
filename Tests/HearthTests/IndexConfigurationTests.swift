// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import Testing

@testable import Hearth

@Suite("Index files as Google's tools write them")
struct IndexConfigurationTests {
  private func read(_ json: String) throws -> (cache: [String], server: [String], warnings: [String]) {
    let configuration = try IndexConfiguration(parsing: json)
    return (
      configuration.fieldIndexes.map(\.description), configuration.composites.map(\.description), configuration.warnings
    )
  }

  @Test("Index files may have comments, a byte order mark and trailing commas")
  func comments() throws {
    let file = try read(
      """
      \u{feff}// Made by a tool; "quotes" and ümlauts.
      {
        /* Several
           lines, with ** and // in them. */
        "indexes": [
          {"collectionGroup": "c", "name": "a // b /* c */", "fields": [ // one of two
            {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "DESCENDING"}
          ]},
        ],
        "fieldOverrides": []
      }
      // the end
      """)
    #expect(file.server == ["c: a ASC, b DESC"] && file.cache == ["c(a ascending, b descending)"])
    #expect(file.warnings == ["line 9, column 3: A comma precedes \"]\". firebase-tools rejects it. Remove the comma."])
  }

  @Test("The index file format used before 2019 is read")
  func oldForm() throws {
    let file = try read(
      """
      {"indexes": [{"collectionId": "c", "fields": [
        {"fieldPath": "tags", "mode": "ARRAY_CONTAINS"}, {"fieldPath": "a", "mode": "DESCENDING"},
        {"fieldPath": "b", "mode": "ASCENDING"}]}]}
      """)
    #expect(file.cache == ["c(tags contains, a descending, b ascending)"])
    #expect(file.server == ["c: tags CONTAINS, a DESC, b ASC"])
    #expect(file.warnings.isEmpty)
  }

  @Test("A field override has one index for each mode and scope")
  func overrides() throws {
    let file = try read(
      """
      {"fieldOverrides": [{"collectionGroup": "c", "fieldPath": "a.b", "ttl": false, "indexes": [
        {"order": "ASCENDING", "queryScope": "COLLECTION", "arrayConfig": null},
        {"order": "DESCENDING", "queryScope": "COLLECTION_GROUP"},
        {"arrayConfig": "CONTAINS", "queryScope": "COLLECTION_GROUP"}]}]}
      """)
    #expect(file.cache == ["c(a.b ascending)", "c(a.b descending)", "c(a.b contains)"])
    #expect(file.server == ["c: a.b ASC", "collection group c: a.b DESC", "collection group c: a.b CONTAINS"])
    #expect(file.warnings.isEmpty)
  }

  @Test("An index with one field in two modes works for a server, not for a cache")
  func twice() throws {
    let file = try read(
      """
      {"indexes": [{"collectionGroup": "c", "fields": [
        {"fieldPath": "g", "arrayConfig": "CONTAINS"}, {"fieldPath": "g", "order": "ASCENDING"}]},
        {"collectionGroup": "d", "fields": [{"fieldPath": "a", "order": "ASCENDING"}]}]}
      """)
    #expect(file.cache == ["d(a ascending)"])
    #expect(file.server == ["c: g CONTAINS, g ASC", "d: a ASC"])
    #expect(file.warnings.count == 1 && file.warnings[0].contains("indexes[0] has the field g twice"))
  }

  @Test(
    "An unknown member of an index file is a warning; its index is kept if possible",
    arguments: [
      (
        #""label": {"a": 1}, "fields": [{"fieldPath": "a", "order": "ASCENDING"}]"#, "indexes[0].label is unknown", true
      ),
      (#""fields": [{"fieldPath": "a", "order": "ASCENDING", "x": 1}]"#, "indexes[0].fields[0].x is unknown", true),
      (
        #""fields": [{"fieldPath": "a", "searchConfig": {}}]"#, "fields[0].searchConfig is unknown. The index is skip",
        false
      ),
      (#""searchFields": []"#, "indexes[0].searchFields is unknown. The index is skipped", false),
      (
        #""apiScope": "MONGODB_COMPATIBLE_API", "fields": [{"fieldPath": "a", "order": "ASCENDING"}]"#,
        "indexes[0] is skipped: it is for another API", false
      ),
      (
        #""queryScope": "COLLECTION_RECURSIVE", "fields": [{"fieldPath": "a", "order": "ASCENDING"}]"#,
        "indexes[0] is skipped: COLLECTION_RECURSIVE", false
      ),
    ])
  func unknown(_ members: String, _ warning: String, _ isRead: Bool) throws {
    let file = try read(
      """
      {"$schema": "x", "indexes": [{"collectionGroup": "c", \(members)},
        {"collectionGroup": "d", "fields": [{"fieldPath": "b", "order": "ASCENDING"}]}]}
      """)
    #expect(file.cache == (isRead ? ["c(a ascending)"] : []) + ["d(b ascending)"])
    #expect(file.warnings.count == 2 && file.warnings[0].hasSuffix("$schema is unknown and has no effect."))
    #expect(file.warnings.last?.contains(warning) == true, "\(file.warnings)")
  }

  @Test("Index lists of gcloud are read, with the collection from the index's name")
  func listed() throws {
    let file = try read(
      """
      [{"name": "projects/p/databases/(default)/collectionGroups/c/indexes/C1", "queryScope": "COLLECTION",
        "state": "READY", "density": "SPARSE_ALL", "multikey": false, "fields": [
          {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "__name__", "order": "ASCENDING"}]}]
      """)
    #expect(file.cache == ["c(a ascending)"] && file.server == ["c: a ASC"] && file.warnings.isEmpty)
  }
}
